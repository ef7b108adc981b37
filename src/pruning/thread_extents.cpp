// thread-extents: the threads of a kernel fit into one block of the device.
//
// All stages of a kernel share its threads, so the union of their extents counts: at most three
// dimensions, each within its own limit (thread z is the narrow one), and a limited product.
// Lowering would run what does not fit serially, which is correct, but no longer the schedule that
// was costed.
#include <algorithm>

#include "pruning/rules.h"

namespace anderson2021 {
namespace {

class ThreadExtentsRule : public StructuralPruner {
public:
    const char *name() const override { return "thread-extents"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        const GpuDevice &device = context.device;
        const int max_dims = std::min(device.max_thread_dims, 3);
        int dims = 0;
        int64_t threads = 1;
        for (const int64_t extent : task.union_thread_extents()) {
            if (extent == 1) {
                continue;
            }
            if (dims == max_dims) {
                return reject_above(name(), dims + 1, max_dims);
            }
            if (extent > device.max_thread_extent[dims]) {
                return reject_above(name(), extent, device.max_thread_extent[dims]);
            }
            dims++;
            // Bounded by the limits of three dimensions: no overflow.
            threads *= extent;
        }
        return reject_above(name(), threads, device.max_threads_per_block);
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_thread_extents_rule() {
    return std::make_unique<ThreadExtentsRule>();
}

}  // namespace anderson2021
