// At most 64 lanes take part in a request, so all work is done on small arrays: lane addresses are
// sums of one offset per thread dimension, they are sorted (mostly they come sorted), and then one
// walk counts distinct sectors, words and bytes.
#include "device/memory_traffic.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace anderson2021 {
namespace {

constexpr int kMaxLanes = WarpLayout::kMaxLanes;
constexpr int kMaxBanks = 64;

/// First bytes of the accesses of the active lanes, ascending, without duplicates.
struct LaneAddresses {
    int count = 0;
    int64_t at[kMaxLanes];

    void append(int64_t address) { at[count++] = address; }

    void sort_and_unique() {
        if (!std::is_sorted(at, at + count)) {
            std::sort(at, at + count);
        }
        count = static_cast<int>(std::unique(at, at + count) - at);
    }
};

// Products wrap around instead of overflowing: regions without bounds give absurd strides.
int64_t wrapping_multiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
/// Magnitude; the one value without a positive counterpart becomes 0.
int64_t magnitude(int64_t a) {
    const int64_t m = a < 0 ? wrapping_multiply(a, -1) : a;
    return std::max<int64_t>(m, 0);
}

bool is_small_integer(double x) {
    return std::abs(x) < 2147483648.0 && x == std::trunc(x);
}

/// Offsets of steps first, first + 1, ... of one thread dimension.
class OffsetTable {
public:
    OffsetTable(const ThreadStride *stride,
                const std::vector<int64_t> &storage_stride,
                int64_t first,
                int64_t count)
        : stride_(stride), storage_stride_(storage_stride), first_(first) {
        if (stride == nullptr) {
            return;
        }
        const bool linear =
            std::all_of(stride->index_stride.begin(), stride->index_stride.end(), is_small_integer);
        if (linear) {
            // Truncation does nothing, so the offset is |step * sum|.
            int64_t sum = 0;
            for (size_t d = 0; d < stride->index_stride.size(); d++) {
                sum = wrapping_add(sum,
                                   wrapping_multiply(static_cast<int64_t>(stride->index_stride[d]),
                                                     storage_stride[d]));
            }
            step_ = magnitude(sum);
            return;
        }
        linear_ = false;
        // Fewer lanes than steps: look each of them up when it is asked for.
        direct_ = count > kMaxLanes;
        for (int64_t i = 0; i < count && !direct_; i++) {
            table_[i] = thread_offset(*stride_, storage_stride_, first + i);
        }
    }

    int64_t operator[](int64_t step) const {
        if (linear_) {
            return wrapping_multiply(step_, step);
        }
        return direct_ ? thread_offset(*stride_, storage_stride_, step) : table_[step - first_];
    }

private:
    const ThreadStride *stride_;
    const std::vector<int64_t> &storage_stride_;
    bool linear_ = true;
    bool direct_ = false;
    int64_t step_ = 0;
    int64_t first_ = 0;
    int64_t table_[kMaxLanes];
};

/// The lanes of one warp: consecutive thread numbers, some of them active.
struct Warp {
    int64_t first_thread = 0;
    int64_t length = 0;
    uint64_t active = 0;
};

LaneAddresses lane_addresses(const WarpAccess &access, const WarpLayout &layout, const Warp &warp) {
    // A warp covers consecutive values of y and z; x starts over in every row.
    const int64_t first_row = warp.first_thread / layout.grid[0];
    const int64_t last_row = (warp.first_thread + warp.length - 1) / layout.grid[0];
    const bool one_row = first_row == last_row;
    int64_t coordinate[3] = {
        warp.first_thread % layout.grid[0], first_row % layout.grid[1], first_row / layout.grid[1]};
    const bool one_slice = coordinate[2] == last_row / layout.grid[1];

    const auto stride = [&](size_t k) {
        return k < access.strides.size() ? &access.strides[k] : nullptr;
    };
    const auto &storage = access.storage_stride;
    const OffsetTable x_offset(
        stride(0), storage, one_row ? coordinate[0] : 0, one_row ? warp.length : layout.grid[0]);
    const OffsetTable y_offset(stride(1),
                               storage,
                               one_slice ? coordinate[1] : 0,
                               one_slice ? last_row - first_row + 1 : layout.grid[1]);
    const OffsetTable z_offset(
        stride(2), storage, coordinate[2], last_row / layout.grid[1] - coordinate[2] + 1);

    LaneAddresses lanes;
    int64_t row_offset = wrapping_add(y_offset[coordinate[1]], z_offset[coordinate[2]]);
    for (int64_t lane = 0; lane < warp.length; lane++) {
        if ((warp.active >> lane & 1) != 0) {
            const int64_t element = wrapping_add(row_offset, x_offset[coordinate[0]]);
            // Negative only after wrapping around.
            lanes.append(magnitude(wrapping_multiply(element, access.bytes_per_point)));
        }
        if (++coordinate[0] == layout.grid[0] && lane + 1 < warp.length) {
            coordinate[0] = 0;
            if (++coordinate[1] == layout.grid[1]) {
                coordinate[1] = 0;
                coordinate[2]++;
            }
            row_offset = wrapping_add(y_offset[coordinate[1]], z_offset[coordinate[2]]);
        }
    }
    lanes.sort_and_unique();
    return lanes;
}

// All addresses are multiples of the size of a point, so different ones never overlap and every
// lane with an address of its own uses all of its bytes.

RequestCost global_cost(const LaneAddresses &lanes, int64_t bytes, const GpuDevice &device) {
    RequestCost cost;
    cost.bytes_used = lanes.count * bytes;
    for (int i = 0; i < lanes.count; i++) {
        const int64_t sector = lanes.at[i] / device.global_sector_bytes;
        if (i == 0 || sector != lanes.at[i - 1] / device.global_sector_bytes) {
            cost.transactions++;
        }
    }
    return cost;
}

/// Distinct words per bank, for runs of words in ascending order.
class BankCounter {
public:
    explicit BankCounter(int64_t banks) : banks_(banks) {}

    void add_words(int64_t first, int64_t last) {
        first = std::max(first, next_);
        if (first > last) {
            return;
        }
        next_ = last + 1;
        const int64_t count = last - first + 1;
        in_every_bank_ += count / banks_;
        for (int64_t w = last - count % banks_ + 1; w <= last; w++) {
            most_ = std::max(most_, ++words_[w % banks_]);
        }
    }
    int64_t most() const { return in_every_bank_ + most_; }

private:
    int64_t banks_;
    int64_t next_ = 0;
    int64_t in_every_bank_ = 0;
    int64_t most_ = 0;
    int64_t words_[kMaxBanks] = {};
};

RequestCost shared_cost(const LaneAddresses &lanes, int64_t bytes, const GpuDevice &device) {
    ANDERSON_CHECK(device.shared_banks <= kMaxBanks)
        << device.shared_banks << " banks of shared memory are not supported.";
    RequestCost cost;
    cost.bytes_used = lanes.count * bytes;
    BankCounter banks(device.shared_banks);
    for (int i = 0; i < lanes.count; i++) {
        const int64_t first = lanes.at[i];
        banks.add_words(first / device.shared_word_bytes,
                        (first + bytes - 1) / device.shared_word_bytes);
    }
    cost.transactions = banks.most();
    return cost;
}

RequestCost local_cost(int64_t active, int64_t bytes, const GpuDevice &device) {
    // Single precision, as the weights have seen it.
    const auto total = static_cast<float>(active * bytes);
    RequestCost cost;
    cost.transactions =
        static_cast<int64_t>(std::ceil(total / static_cast<float>(device.local_transaction_bytes)));
    cost.bytes_used = active * bytes;
    return cost;
}

}  // namespace

double MemoryTraffic::efficiency() const {
    if (bytes_moved <= 0) {
        return 1;
    }
    // Straddling and very wide accesses use more than they are said to move.
    return std::min(1.0, bytes_used / bytes_moved);
}

void MemoryTraffic::add(const MemoryTraffic &other) {
    transactions += other.transactions;
    bytes_used += other.bytes_used;
    bytes_moved += other.bytes_moved;
}

int64_t thread_offset(const ThreadStride &stride,
                      const std::vector<int64_t> &storage_stride,
                      int64_t step) {
    int64_t offset = 0;
    for (size_t d = 0; d < stride.index_stride.size(); d++) {
        const auto index =
            static_cast<int64_t>(std::trunc(static_cast<double>(step) * stride.index_stride[d]));
        offset = wrapping_add(offset, wrapping_multiply(index, storage_stride[d]));
    }
    return magnitude(offset);
}

int64_t transaction_bytes(TrafficKind kind, const GpuDevice &device) {
    switch (kind) {
    case TrafficKind::Global:
        return device.global_sector_bytes;
    case TrafficKind::Shared:
        return device.shared_transaction_bytes;
    case TrafficKind::Local:
        return device.local_transaction_bytes;
    }
    return 0;
}

RequestCost request_cost(TrafficKind kind,
                         const WarpAccess &access,
                         const WarpLayout &layout,
                         bool last_warp,
                         const GpuDevice &device) {
    Warp warp;
    if (last_warp) {
        warp.first_thread = layout.first_thread_of_last_warp(device);
        warp.length = layout.tail_length;
        warp.active = layout.last_warp_lanes;
    } else {
        warp.length = layout.warps_per_block > 1 ? device.warp_size : layout.tail_length;
        warp.active = layout.first_warp_lanes;
    }
    const int64_t active = __builtin_popcountll(warp.active);
    const int64_t bytes = access.bytes_per_point;
    if (kind == TrafficKind::Local) {
        return local_cost(active, bytes, device);
    }
    for (const ThreadStride &s : access.strides) {
        if (!s.valid) {
            return {active, active * bytes};
        }
        ANDERSON_CHECK(s.index_stride.size() <= access.storage_stride.size())
            << "A stride has more dimensions than the storage.";
    }
    const LaneAddresses lanes = lane_addresses(access, layout, warp);
    return kind == TrafficKind::Global ? global_cost(lanes, bytes, device)
                                       : shared_cost(lanes, bytes, device);
}

void account(MemoryTraffic &traffic,
             TrafficKind kind,
             const WarpAccess &access,
             double requests_per_thread,
             const WarpLayout *layout,
             const GpuDevice &device) {
    const auto moved = static_cast<double>(transaction_bytes(kind, device));
    if (layout == nullptr) {
        traffic.transactions += requests_per_thread;
        traffic.bytes_used += requests_per_thread * static_cast<double>(access.bytes_per_point);
        traffic.bytes_moved += requests_per_thread * moved;
        return;
    }
    const auto add = [&](double requests, bool last_warp) {
        const RequestCost cost = request_cost(kind, access, *layout, last_warp, device);
        const double n = std::trunc(requests);
        const double transactions = n * static_cast<double>(cost.transactions);
        traffic.transactions += transactions;
        traffic.bytes_used += n * static_cast<double>(cost.bytes_used);
        traffic.bytes_moved += transactions * moved;
    };
    add(static_cast<double>(layout->num_regular_warps) * requests_per_thread, false);
    if (layout->has_tail_warp) {
        add(requests_per_thread, true);
    }
}

}  // namespace anderson2021
