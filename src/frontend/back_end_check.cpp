#include "frontend/back_end_check.h"

#include <algorithm>

#include "support/error.h"

namespace anderson2021 {

namespace {

using Halide::Expr;
using Halide::Internal::Function;

class BFloatFinder : public Halide::Internal::IRGraphVisitor {
public:
    bool found = false;

private:
    using Halide::Internal::IRGraphVisitor::include;

    void include(const Expr &e) override {
        found = found || e.type().is_bfloat();
        IRGraphVisitor::include(e);
    }
};

bool uses_bfloat(const Function &f) {
    // Types of the values themselves, and of all parts.
    const std::vector<Halide::Type> &types = f.output_types();
    BFloatFinder finder;
    f.accept(&finder);
    return finder.found || std::any_of(types.begin(), types.end(), [](const Halide::Type &t) {
               return t.is_bfloat();
           });
}

}  // namespace

void require_types_of_back_end(const std::vector<Function> &functions,
                               const Halide::Target &target) {
    if (!target.has_feature(Halide::Target::CUDA)) {
        return;
    }
    for (const Function &f : functions) {
        if (uses_bfloat(f)) {
            throw UserError("Func \"" + f.name() +
                            "\" uses bfloat16, which the compiler cannot generate code for CUDA "
                            "with. Use float16 or float32 instead.");
        }
    }
}

}  // namespace anderson2021
