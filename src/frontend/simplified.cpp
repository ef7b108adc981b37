#include "frontend/simplified.h"

#include <map>

namespace anderson2021 {

namespace {

using Halide::Expr;
namespace Ir = Halide::Internal;

// Bounds of ordinary coordinates have less than a hundred nodes; the form in which these come out
// must not change. Ten thousand take some milliseconds.
constexpr double kMaxWrittenSize = 10000;

class WrittenSize : public Ir::IRGraphVisitor {
public:
    double of(const Expr &e) {
        include(e);
        return size_;
    }

private:
    using Ir::IRGraphVisitor::include;

    void include(const Expr &e) override {
        const auto known = sizes_.find(e.get());
        if (known != sizes_.end()) {
            size_ += known->second;
            return;
        }
        const double before = size_;
        size_ = 1;
        e.accept(this);
        sizes_[e.get()] = size_;
        size_ += before;
    }

    // Grows exponentially: no integer would do.
    double size_ = 0;
    std::map<const Ir::IRNode *, double> sizes_;
};

}  // namespace

double written_size(const Expr &e) {
    return WrittenSize().of(e);
}

Expr simplified(const Expr &e) {
    if (written_size(e) <= kMaxWrittenSize) {
        return Ir::simplify(e);
    }
    return Ir::simplify(Ir::common_subexpression_elimination(e));
}

}  // namespace anderson2021
