// local-memory-constant: what a thread stores in allocations of constant size fits into a share of
// its stack. local-memory: all that a thread stores fits into the device's local memory.
//
// Funcs that live in registers obey far tighter limits, which the sites of the stages check; these
// two rules stop a state before its sites are looked for.
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

bool has_constant_size(const FuncRegion &region) {
    for (int d = 0; d < region.func().dims(); d++) {
        if (!region.computed(d).constant) {
            return false;
        }
    }
    return true;
}

/// Bytes stored in Thread levels and below, summed over all threads' stages of a kernel.
int64_t bytes_in_threads(const LoopNest &nest,
                         bool in_thread,
                         bool only_constant,
                         const PruneContext &context) {
    in_thread = in_thread || nest.axis == GpuAxis::Thread;
    int64_t bytes = 0;
    if (in_thread) {
        // Compat: the reference charges a Func at every level from its compute site up.
        nest.for_each_stored(context.reference_features, [&](int f) {
            const FuncRegion &region = nest.regions->of(f);
            if (!only_constant || has_constant_size(region)) {
                bytes += region.bytes_computed();
            }
        });
    }
    for (const LoopNestPtr &c : nest.children) {
        bytes += bytes_in_threads(*c, in_thread, only_constant, context);
    }
    return bytes;
}

class LocalMemoryConstantRule : public StructuralPruner {
public:
    const char *name() const override { return "local-memory-constant"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        const auto limit = static_cast<int64_t>(
            context.stack_factor * static_cast<double>(context.device.stack_bytes_per_thread));
        return reject_above(name(), bytes_in_threads(task, false, true, context), limit);
    }
};

class LocalMemoryRule : public StructuralPruner {
public:
    const char *name() const override { return "local-memory"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        return reject_above(name(),
                            bytes_in_threads(task, false, false, context),
                            context.device.local_bytes_per_thread);
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_local_memory_constant_rule() {
    return std::make_unique<LocalMemoryConstantRule>();
}

std::unique_ptr<StructuralPruner> make_local_memory_rule() {
    return std::make_unique<LocalMemoryRule>();
}

}  // namespace anderson2021
