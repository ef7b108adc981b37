#include "featurizer/groups/leaf_access.h"

#include <algorithm>

namespace anderson2021 {

namespace {

int find_loop(const StageNode &stage, const std::string &var) {
    for (size_t i = 0; i < stage.loops.size(); i++) {
        if (stage.loops[i].var == var) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

/// Elements between neighbours along each dimension of a dense buffer whose innermost dimension is
/// `innermost`; the others follow in ascending order.
Extents storage_strides(const FuncRegion &storage, int innermost) {
    const int dims = storage.func().dims();
    Extents strides;
    strides.resize(static_cast<size_t>(dims));
    int64_t stride = 1;
    const auto add = [&](int d) {
        strides[static_cast<size_t>(d)] = stride;
        stride = saturating_multiply(stride, std::max<int64_t>(storage.required(d).extent(), 0));
    };
    if (innermost >= 0 && innermost < dims) {
        add(innermost);
    }
    for (int d = 0; d < dims; d++) {
        if (d != innermost) {
            add(d);
        }
    }
    return strides;
}

int64_t loop_width(int64_t size, int64_t widest) {
    if (size >= widest) {
        return size % widest == 0 ? widest : 1;
    }
    return size > 0 && widest % size == 0 ? size : 1;
}

}  // namespace

LeafAccess::LeafAccess(const LoopContext &leaf) : leaf_(leaf) {
    const StageNode &stage = leaf.stage;
    if (leaf.gpu.thread == nullptr) {
        return;
    }
    const FuncRegion &per_thread = leaf.own_region(*leaf.gpu.thread);
    for (size_t i = 0; i < stage.loops.size(); i++) {
        serial_extents_.push_back(per_thread.loop(stage.index, static_cast<int>(i)).extent());
    }
    // The threads may belong to another Func; Halide gives loops with equal variables the same
    // thread index.
    const StageNode &owner = leaf.env.graph.stage(leaf.gpu.thread->stage_id);
    for (const int i : leaf.gpu.layout->loops) {
        thread_loops_.push_back(find_loop(stage, owner.loops[static_cast<size_t>(i)].var));
    }
}

WarpAccess LeafAccess::warp_access(const AccessJacobian &jacobian,
                                   bool per_thread,
                                   const FuncRegion &storage,
                                   int innermost) const {
    const int dims = storage.func().dims();
    WarpAccess access;
    access.bytes_per_point = storage.func().bytes_per_point;
    access.storage_stride = storage_strides(storage, innermost);
    access.strides.resize(thread_loops_.size());
    for (size_t k = 0; k < thread_loops_.size(); k++) {
        ThreadStride &stride = access.strides[k];
        stride.index_stride.assign(static_cast<size_t>(dims), 0);
        const int loop = thread_loops_[k];
        for (int d = 0; d < dims && loop >= 0; d++) {
            Rational step = jacobian.at(d, loop);
            if (!per_thread) {
                step = step * serial_extents_[static_cast<size_t>(loop)];
            }
            if (!step.exists()) {
                stride.valid = false;
                break;
            }
            stride.index_stride[static_cast<size_t>(d)] =
                static_cast<double>(static_cast<float>(step.n) / static_cast<float>(step.d));
        }
    }
    return access;
}

int64_t LeafAccess::vector_width(const AccessJacobian &jacobian, int dim) const {
    const GpuDevice &device = leaf_.env.device;
    // Compat: by the size of what is computed, not of what is accessed.
    const int64_t widest =
        std::min(device.max_vector_elements, device.max_vector_bytes / leaf_.func.bytes_per_point);
    int64_t width = 1;
    if (widest < 1 || jacobian.rows() == 0) {
        return width;
    }
    for (int j = 0; j < jacobian.cols(); j++) {
        bool walks_dim_alone = true;
        for (int d = 0; d < jacobian.rows() && walks_dim_alone; d++) {
            walks_dim_alone = jacobian.at(d, j).is(d == dim ? 1 : 0);
        }
        if (walks_dim_alone) {
            width = std::max(width, loop_width(leaf_.parent.size[static_cast<size_t>(j)], widest));
        }
    }
    return width;
}

}  // namespace anderson2021
