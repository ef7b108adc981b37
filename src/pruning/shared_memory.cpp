// shared-memory: what a kernel stores outside of its threads fits into the shared memory of a
// block.
//
// Every Func is charged once, with the region that the whole block computes of it. Scalars are
// free.
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

class SharedMemoryRule : public StructuralPruner {
public:
    const char *name() const override { return "shared-memory"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        return reject_above(
            name(), bytes_stored(task, task, context), context.device.shared_bytes_per_block);
    }

private:
    /// Bytes of the Funcs stored in `nest` and in its descendants outside of threads.
    static int64_t
    bytes_stored(const LoopNest &nest, const LoopNest &task, const PruneContext &context) {
        if (nest.axis == GpuAxis::Thread) {
            return 0;
        }
        // Compat: the reference charges a Func at every level from its compute site up, and so
        // those computed inside of threads, too.
        int64_t bytes = 0;
        nest.for_each_stored(context.reference_features, [&](int f) {
            if (context.graph.func(f).dims() > 0) {
                bytes += task.regions->of(f).bytes_computed();
            }
        });
        for (const LoopNestPtr &c : nest.children) {
            bytes += bytes_stored(*c, task, context);
        }
        return bytes;
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_shared_memory_rule() {
    return std::make_unique<SharedMemoryRule>();
}

}  // namespace anderson2021
