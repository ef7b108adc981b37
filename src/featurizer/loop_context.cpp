#include "featurizer/loop_context.h"

#include <limits>

#include "support/error.h"

namespace anderson2021 {

void GpuContext::enter(const LoopNest &nest, SerialLevel &level) {
    switch (nest.axis) {
    case GpuAxis::Block:
        block = &nest;
        blocks = nest.iterations();
        break;
    case GpuAxis::Thread:
        ANDERSON_CHECK(thread == nullptr) << "A Thread level inside another one";
        thread = &nest;
        break;
    case GpuAxis::Serial:
        if (thread != nullptr) {
            inner_serial = saturating_multiply(inner_serial, nest.iterations());
            level = {&nest, serial};
            serial = &level;
        } else if (block != nullptr) {
            outer_serial = saturating_multiply(outer_serial, nest.iterations());
        }
        break;
    case GpuAxis::None:
    case GpuAxis::Parallelized:
    case GpuAxis::Simd:
        break;
    }
}

int64_t GpuContext::serial_iterations_around(int func) const {
    int64_t iterations = 1;
    for (const SerialLevel *s = serial; s != nullptr; s = s->outer) {
        // Own levels start over: whatever was inside them does not count.
        iterations =
            s->nest->func == func ? 1 : saturating_multiply(iterations, s->nest->iterations());
    }
    return iterations;
}

int64_t count_parallel_tasks(const LoopNest &nest, const StageNode &stage, int parallelism) {
    if (parallelism <= 1 || !nest.parallel) {
        return 1;
    }
    int64_t tasks = 1;
    for (size_t i = nest.size.size(); i-- > 0;) {
        if (stage.loops[i].pure) {
            tasks = saturating_multiply(tasks, nest.size[i]);
        } else if (nest.size[i] != 1) {
            break;
        }
    }
    return tasks;
}

int64_t saturating_multiply(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace anderson2021
