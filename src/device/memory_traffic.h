// Transactions of a warp's memory accesses, and their accounting over a block (SF 8.4, 8.5).
#pragma once

#include <cstdint>
#include <vector>

#include "device/gpu_device.h"
#include "device/warp_layout.h"

namespace anderson2021 {

enum class TrafficKind { Global, Shared, Local };

/// Sums over the requests of a block.
struct MemoryTraffic {
    double transactions = 0;
    double bytes_used = 0;
    double bytes_moved = 0;

    /// bytes_used / bytes_moved, 1 if nothing was moved, at most 1.
    double efficiency() const;
    void add(const MemoryTraffic &other);
};

/// An access by one thread dimension: how far one step moves in the producer's storage.
struct ThreadStride {
    /// False if a derivative is unknown: then no lane has an address.
    bool valid = true;
    /// Per storage dimension: derivative as float32 quotient widened to double, 0 if none.
    std::vector<double> index_stride;
};

/// Addresses of a warp, as far as they depend on the thread.
struct WarpAccess {
    /// One per thread dimension in use (at most 3).
    std::vector<ThreadStride> strides;
    /// Elements between neighbours along each storage dimension.
    std::vector<int64_t> storage_stride;
    int64_t bytes_per_point = 4;
};

/// |sum over d of trunc(step * index_stride[d]) * storage_stride[d]|, in elements.
int64_t thread_offset(const ThreadStride &stride,
                      const std::vector<int64_t> &storage_stride,
                      int64_t step);

/// Adds `requests_per_thread` requests of `access` by every warp of `layout`. `layout` may be null
/// (a stage without threads): then every request moves one transaction and uses one point.
void account(MemoryTraffic &traffic,
             TrafficKind kind,
             const WarpAccess &access,
             double requests_per_thread,
             const WarpLayout *layout,
             const GpuDevice &device);

}  // namespace anderson2021
