#include "frontend/schedule_check.h"

#include <string>

#include "support/error.h"

namespace anderson2021 {

namespace {

using Halide::DeviceAPI;
using Halide::LoopLevel;
using Halide::MemoryType;
using Halide::Internal::Definition;
using Halide::Internal::Dim;
using Halide::Internal::ForType;
using Halide::Internal::FuncSchedule;
using Halide::Internal::Function;
using Halide::Internal::StageSchedule;
using Halide::Internal::StorageDim;

[[noreturn]] void throw_scheduled(const std::string &what, const std::string &directive) {
    throw UserError("The pipeline already has a schedule: " + what + " uses " + directive +
                    ". Remove all directives that say where and how to compute it (in, specialize, "
                    "bound, reorder, memoize, estimates and the like may stay) before "
                    "autoscheduling.");
}

// Inlined, which is what every Func starts with. Most queries of a level, its equality included,
// are allowed only once lowering has frozen it; the two names can be read at any time.
bool is_default(const LoopLevel &level) {
    return level.func_name().empty() && level.var_name().empty();
}

void check_storage(const Function &f, const std::string &what) {
    for (const StorageDim &dim : f.schedule().storage_dims()) {
        if (dim.bound.defined()) {
            throw_scheduled(what, "bound_storage");
        }
        if (dim.fold_factor.defined()) {
            throw_scheduled(what, "fold_storage");
        }
    }
}

void check_func_schedule(const Function &f, const std::string &what) {
    const FuncSchedule &s = f.schedule();
    if (!is_default(s.compute_level())) {
        throw_scheduled(what, "compute_root or compute_at");
    }
    if (!is_default(s.store_level())) {
        throw_scheduled(what, "store_root or store_at");
    }
    if (!is_default(s.hoist_storage_level())) {
        throw_scheduled(what, "hoist_storage");
    }
    if (s.memory_type() != MemoryType::Auto && s.memory_type() != MemoryType::Heap &&
        s.memory_type() != MemoryType::GPUTexture) {
        throw_scheduled(what, "store_in");
    }
    if (s.async()) {
        throw_scheduled(what, "async");
    }
    if (s.ring_buffer().defined()) {
        throw_scheduled(what, "ring_buffer");
    }
    check_storage(f, what);
}

const char *directive_of(ForType type) {
    switch (type) {
    case ForType::Serial:
    case ForType::Extern:
        return nullptr;
    case ForType::Parallel:
        return "parallel";
    case ForType::Vectorized:
        return "vectorize";
    case ForType::Unrolled:
        return "unroll";
    case ForType::GPUBlock:
        return "gpu_blocks";
    case ForType::GPUThread:
        return "gpu_threads";
    default:
        return "a loop mark";
    }
}

void check_stage_schedule(const Definition &def, const std::string &what) {
    const StageSchedule &s = def.schedule();
    if (!s.splits().empty()) {
        throw_scheduled(what, "split, tile, fuse or rename");
    }
    for (const Dim &d : s.dims()) {
        const char *directive = directive_of(d.for_type);
        if (directive != nullptr) {
            throw_scheduled(what, directive);
        }
        if (d.device_api != DeviceAPI::None) {
            throw_scheduled(what, "a device loop");
        }
    }
    if (!s.prefetches().empty()) {
        throw_scheduled(what, "prefetch");
    }
    if (!is_default(s.fuse_level().level) || !s.fused_pairs().empty()) {
        throw_scheduled(what, "compute_with");
    }
    for (const Halide::Internal::Specialization &specialized : def.specializations()) {
        if (specialized.failure_message.empty()) {
            check_stage_schedule(specialized.definition, "a specialization of " + what);
        }
    }
}

}  // namespace

void require_unscheduled(const Function &f) {
    const std::string what = "Func \"" + f.name() + "\"";
    if (!f.has_pure_definition()) {
        throw UserError(what + " has no definition. Define every Func of the pipeline before "
                               "autoscheduling.");
    }
    check_func_schedule(f, what);
    check_stage_schedule(f.definition(), what);
    for (size_t i = 0; i < f.updates().size(); i++) {
        check_stage_schedule(f.update(static_cast<int>(i)),
                             "update " + std::to_string(i) + " of " + what);
    }
}

}  // namespace anderson2021
