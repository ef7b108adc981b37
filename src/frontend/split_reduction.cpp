#include "frontend/split_reduction.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "support/error.h"

namespace anderson2021 {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;

namespace {

class CallFinder : public IRGraphVisitor {
public:
    explicit CallFinder(const std::string &func) : func_(func) {}
    bool found = false;

private:
    using IRGraphVisitor::visit;

    void visit(const Call *op) override {
        found = found || (op->call_type == Call::Halide && op->name == func_);
        IRGraphVisitor::visit(op);
    }

    const std::string &func_;
};

bool calls(const Expr &e, const std::string &func) {
    CallFinder finder(func);
    if (e.defined()) {
        e.accept(&finder);
    }
    return finder.found;
}

// Each element of the tuple is reduced by itself, as if there were several Funcs.
bool has_independent_elements(const AssociativeOp &op) {
    for (size_t i = 0; i < op.size(); i++) {
        for (size_t j = 0; j < op.size(); j++) {
            for (const std::string &var : {op.xs[j].var, op.ys[j].var}) {
                if (i != j && !var.empty() && expr_uses_var(op.pattern.ops[i], var)) {
                    return false;
                }
            }
        }
    }
    return true;
}

bool has_floats(const Definition &update) {
    return std::any_of(update.values().begin(), update.values().end(), [](const Expr &e) {
        return e.type().is_float();
    });
}

}  // namespace

ReductionOrder reduction_order(const Function &f, int update, const Halide::Target &target) {
    const Definition &def = f.update(update);
    const Expr predicate = def.predicate();
    // The compiler takes no notice of conditions and places that depend on the result so far.
    bool depends_on_itself = calls(predicate, f.name());
    for (const Expr &arg : def.args()) {
        depends_on_itself = depends_on_itself || calls(arg, f.name());
    }
    if (depends_on_itself || def.schedule().atomic() || !def.specializations().empty() ||
        (has_floats(def) && target.has_feature(Halide::Target::StrictFloat))) {
        return ReductionOrder::Fixed;
    }
    const AssociativeOp op = prove_associativity(f.name(), def.args(), def.values());
    if (!op.associative()) {
        return ReductionOrder::Fixed;
    }
    if (op.commutative() && has_independent_elements(op)) {
        return ReductionOrder::Free;
    }
    // Like the place of a maximum: equal values are told apart by their order, and a part without
    // any value would be taken for one that has the least one.
    const bool may_have_empty_parts = predicate.defined() && !is_const_one(simplify(predicate));
    return may_have_empty_parts ? ReductionOrder::Fixed : ReductionOrder::Runs;
}

void complete_split(const Function &f, ReductionSplit &split) {
    const std::vector<Dim> &dims = f.update(split.update).schedule().dims();
    std::set<std::string> taken(f.args().begin(), f.args().end());
    for (const Dim &d : dims) {
        taken.insert(d.var);
    }
    const auto fresh = [&](const std::string &stem) {
        std::string name = stem;
        for (int i = 2; !taken.insert(name).second; i++) {
            name = stem + std::to_string(i);
        }
        return name;
    };
    for (SplitLoop &loop : split.loops) {
        const auto at =
            std::find_if(dims.begin(), dims.end(), [&](const Dim &d) { return d.var == loop.var; });
        ANDERSON_CHECK(at != dims.end()) << f.name() << " has no loop " << loop.var;
        loop.dims_index = static_cast<int>(at - dims.begin());
        if (loop.factor != 0) {
            loop.outer = fresh(loop.in_runs ? "run" : "step");
            loop.inner = fresh(loop.in_runs ? "step" : "lane");
        }
        loop.arg = fresh("part");
    }
}

Function carry_out_split(const Function &f, const ReductionSplit &split) {
    Halide::Stage stage = Halide::Func(f).update(split.update);
    std::vector<std::pair<Halide::RVar, Halide::Var>> kept;
    for (const SplitLoop &loop : split.loops) {
        if (loop.factor != 0) {
            stage.split(Halide::RVar(loop.var),
                        Halide::RVar(loop.outer),
                        Halide::RVar(loop.inner),
                        static_cast<int>(loop.factor));
        }
        kept.emplace_back(Halide::RVar(loop.kept()), Halide::Var(loop.arg));
    }
    return stage.rfactor(kept).function();
}

}  // namespace anderson2021
