#include "built_graph.h"

#include <sstream>

#include "support/error.h"

namespace anderson2021 {
namespace test {

std::string user_error_of(const std::vector<Halide::Func> &outputs) {
    try {
        const Built b(outputs);
    } catch (const UserError &e) {
        return e.what();
    }
    return "";
}

std::string matrix_text(const AccessJacobian &j) {
    std::ostringstream text;
    for (int i = 0; i < j.rows(); i++) {
        text << (i > 0 ? "; " : "");
        for (int k = 0; k < j.cols(); k++) {
            const Rational r = j.at(i, k);
            text << (k > 0 ? " " : "");
            if (!r.exists()) {
                text << "_";
            } else if (r.d == 1) {
                text << r.n;
            } else {
                text << r.n << "/" << r.d;
            }
        }
    }
    return text.str();
}

}  // namespace test
}  // namespace anderson2021
