// Transactions of a warp's memory accesses, and their accounting over a block.
//
// One request of a warp costs as many transactions as it touches global sectors, or as its most
// contended shared memory bank has distinct words. Addresses are those that the lanes would use if
// the storage began at 0. Everything here is exact: no approximation by typical strides.
#pragma once

#include <cstdint>

#include "device/gpu_device.h"
#include "device/warp_layout.h"
#include "support/small_vector.h"

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
    SmallVector<double, 4> index_stride;
};

/// Addresses of a warp, as far as they depend on the thread.
struct WarpAccess {
    /// One per thread dimension in use (at most 3).
    SmallVector<ThreadStride, 3> strides;
    /// Elements between neighbours along each storage dimension.
    Extents storage_stride;
    int64_t bytes_per_point = 4;
};

/// What one request of one warp costs.
struct RequestCost {
    int64_t transactions = 0;
    int64_t bytes_used = 0;
};

/// |sum over d of trunc(step * index_stride[d]) * storage_stride[d]|, in elements.
int64_t thread_offset(const ThreadStride &stride, const Extents &storage_stride, int64_t step);

/// Bytes that one transaction moves.
int64_t transaction_bytes(TrafficKind kind, const GpuDevice &device);

/// Cost of one request by the active lanes of warp 0, or of the last warp of the grid.
///
/// Global: distinct sectors of first bytes (an access that straddles two sectors counts for the
/// first one only). Shared: most distinct words in a bank. Local: bytes of all lanes by sector
/// size. A lane without an address adds a transaction of its own.
RequestCost request_cost(TrafficKind kind,
                         const WarpAccess &access,
                         const WarpLayout &layout,
                         bool last_warp,
                         const GpuDevice &device);

/// One request of each warp that stands for others.
struct WarpCosts {
    /// Of warp 0.
    RequestCost regular;
    /// Of the last warp; only if the layout has a tail warp.
    RequestCost tail;
};
WarpCosts warp_costs(TrafficKind kind,
                     const WarpAccess &access,
                     const WarpLayout &layout,
                     const GpuDevice &device);

/// Adds `requests_per_thread` requests of `access` by every warp of `layout`. `layout` may be null
/// (a stage without threads): then every request moves one transaction and uses one point.
/// The number of requests of all regular warps together, and that of the tail warp, are cut to
/// whole numbers.
void account(MemoryTraffic &traffic,
             TrafficKind kind,
             const WarpAccess &access,
             double requests_per_thread,
             const WarpLayout *layout,
             const GpuDevice &device);
/// The same for an access whose costs are known.
void account(MemoryTraffic &traffic,
             const WarpCosts &costs,
             double requests_per_thread,
             const WarpLayout &layout,
             int64_t bytes_per_transaction);

}  // namespace anderson2021
