#include "backend/trial.h"

#include <exception>
#include <map>
#include <utility>

#include "backend/apply_trace.h"

namespace anderson2021 {

namespace {

using Halide::Internal::For;
using Halide::Internal::ForType;
using Halide::Internal::Function;

/// Takes out the kernels once loops are final, so that no time goes into their code.
class KernelRemover : public Halide::Internal::IRMutator {
    using IRMutator::visit;

    Halide::Internal::Stmt visit(const For *loop) override {
        if (loop->for_type == ForType::GPUBlock || loop->for_type == ForType::GPUThread) {
            return Halide::Internal::Evaluate::make(0);
        }
        return IRMutator::visit(loop);
    }
};

/// The pipeline's Funcs and those that they read, copied as a whole.
struct Copies {
    explicit Copies(const TrialPipeline &pipeline) {
        const auto copies = Halide::Internal::deep_copy(
            pipeline.outputs, Halide::Internal::build_environment(pipeline.outputs));
        outputs = copies.first;
        for (const Function &f : pipeline.functions) {
            functions.push_back(copies.second.at(f.name()));
        }
    }

    std::vector<Function> outputs;
    std::vector<Function> functions;
};

}  // namespace

std::string try_trace(const ScheduleTrace &trace, const TrialPipeline &pipeline, TrialDepth depth) {
    if (!Halide::exceptions_enabled()) {
        return "";
    }
    try {
        const Copies copies(pipeline);
        apply_trace(trace, pipeline.graph, copies.functions);
        if (depth == TrialDepth::Loops) {
            KernelRemover remover;
            Halide::Internal::lower_main_stmt(
                copies.outputs, "trial", pipeline.target, {}, false, {&remover});
        }
    } catch (const Halide::Error &e) {  // Not one of the standard library's.
        return e.what();
    } catch (const std::exception &e) {
        return e.what();
    }
    return "";
}

}  // namespace anderson2021
