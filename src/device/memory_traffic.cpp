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

// Products wrap around instead of overflowing: regions without bounds give absurd strides.
int64_t wrapping_multiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapping_subtract(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
/// Magnitude; the one value without a positive counterpart becomes 0.
int64_t magnitude(int64_t a) {
    const int64_t m = a < 0 ? wrapping_multiply(a, -1) : a;
    return std::max<int64_t>(m, 0);
}

bool is_small_integer(double x) {
    return std::abs(x) < 2147483648.0 && x == std::trunc(x);
}

/// Division of non-negative numbers; by a shift where possible, which is what devices have.
class Divider {
public:
    explicit Divider(int64_t divisor)
        : divisor_(divisor),
          shift_((divisor & (divisor - 1)) == 0 ? __builtin_ctzll(static_cast<uint64_t>(divisor))
                                                : -1) {}
    int64_t quotient(int64_t a) const { return shift_ >= 0 ? a >> shift_ : a / divisor_; }
    int64_t remainder(int64_t a) const { return shift_ >= 0 ? a & (divisor_ - 1) : a % divisor_; }

private:
    int64_t divisor_;
    int shift_;
};

/// Offsets of steps first, first + 1, ... of one thread dimension.
class OffsetTable {
public:
    OffsetTable(const ThreadStride *stride,
                const Extents &storage_stride,
                int64_t first,
                int64_t count)
        : first_(first) {
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
        // Only the first and the last warp are looked at. They never reach beyond a row or slice
        // with more threads than a warp has lanes, so there are few steps.
        ANDERSON_CHECK(count <= kMaxLanes) << "A warp with " << count << " steps.";
        linear_ = false;
        for (int64_t i = 0; i < count; i++) {
            table_[i] = thread_offset(*stride, storage_stride, first + i);
        }
    }

    int64_t operator[](int64_t step) const {
        return linear_ ? wrapping_multiply(step_, step) : table_[step - first_];
    }

private:
    bool linear_ = true;
    int64_t step_ = 0;
    int64_t first_ = 0;
    int64_t table_[kMaxLanes];
};

/// First bytes of the accesses of the active lanes of a warp, ascending, without duplicates.
class LaneAddresses {
public:
    LaneAddresses(const WarpAccess &access, const WarpLayout &layout, int64_t begin, int64_t length)
        : access_(access), layout_(layout) {
        collect_rows(begin, begin + length - 1);
        append_lanes();
        if (!sorted_) {
            std::sort(at_, at_ + count_);
            count_ = static_cast<int>(std::unique(at_, at_ + count_) - at_);
        }
    }

    int count() const { return count_; }
    int64_t operator[](int i) const { return at_[i]; }

private:
    const ThreadStride *stride(size_t k) const {
        return k < access_.strides.size() ? &access_.strides[k] : nullptr;
    }

    /// The warp covers some whole rows of threads along x, and parts of the first and the last one.
    void collect_rows(int64_t first_thread, int64_t last_thread) {
        const Divider by_x(layout_.grid[0]), by_y(layout_.grid[1]);
        const int64_t first_row = by_x.quotient(first_thread);
        const int64_t last_row = by_x.quotient(last_thread);
        const int64_t first_slice = by_y.quotient(first_row);
        const int64_t last_slice = by_y.quotient(last_row);
        const bool one_slice = first_slice == last_slice;
        int64_t y = by_y.remainder(first_row);
        int64_t z = first_slice;
        const OffsetTable y_offset(stride(1),
                                   access_.storage_stride,
                                   one_slice ? y : 0,
                                   one_slice ? last_row - first_row + 1 : layout_.grid[1]);
        const OffsetTable z_offset(
            stride(2), access_.storage_stride, z, last_slice - first_slice + 1);
        for (int64_t row = first_row; row <= last_row; row++) {
            const int64_t begin = row == first_row ? by_x.remainder(first_thread) : 0;
            const int64_t end = row == last_row ? by_x.remainder(last_thread) + 1 : layout_.grid[0];
            const int64_t active_end = std::min(end, layout_.extent[0]);
            if (y < layout_.extent[1] && z < layout_.extent[2] && begin < active_end) {
                rows_[num_rows_++] = {wrapping_add(y_offset[y], z_offset[z]), begin, active_end};
            }
            if (++y == layout_.grid[1]) {
                y = 0;
                z++;
            }
        }
    }

    void append_lanes() {
        int64_t begin = layout_.grid[0], end = 0;
        bool rectangle = true;
        for (int r = 0; r < num_rows_; r++) {
            begin = std::min(begin, rows_[r].begin);
            end = std::max(end, rows_[r].end);
            rectangle =
                rectangle && rows_[r].begin == rows_[0].begin && rows_[r].end == rows_[0].end;
        }
        const OffsetTable x_offset(stride(0), access_.storage_stride, begin, end - begin);
        // With the larger steps outside, addresses mostly come in order.
        const bool x_outside = rectangle && num_rows_ > 1 && end - begin > 1 &&
                               wrapping_subtract(x_offset[begin + 1], x_offset[begin]) >
                                   wrapping_subtract(rows_[1].offset, rows_[0].offset);
        if (x_outside) {
            for (int64_t x = begin; x < end; x++) {
                for (int r = 0; r < num_rows_; r++) {
                    append(wrapping_add(rows_[r].offset, x_offset[x]));
                }
            }
            return;
        }
        for (int r = 0; r < num_rows_; r++) {
            for (int64_t x = rows_[r].begin; x < rows_[r].end; x++) {
                append(wrapping_add(rows_[r].offset, x_offset[x]));
            }
        }
    }

    void append(int64_t element) {
        // Negative only after wrapping around.
        const int64_t address = magnitude(wrapping_multiply(element, access_.bytes_per_point));
        if (address != last_) {
            sorted_ = sorted_ && address > last_;
            at_[count_++] = last_ = address;
        }
    }

    struct Row {
        int64_t offset, begin, end;
    };

    const WarpAccess &access_;
    const WarpLayout &layout_;
    int num_rows_ = 0;
    Row rows_[kMaxLanes];
    bool sorted_ = true;
    int64_t last_ = -1;
    int count_ = 0;
    int64_t at_[kMaxLanes];
};

// All addresses are multiples of the size of a point, so different ones never overlap and every
// lane with an address of its own uses all of its bytes.

RequestCost global_cost(const LaneAddresses &lanes, int64_t bytes, const GpuDevice &device) {
    const Divider by_sector(device.global_sector_bytes);
    RequestCost cost;
    cost.bytes_used = lanes.count() * bytes;
    int64_t last = -1;
    for (int i = 0; i < lanes.count(); i++) {
        const int64_t sector = by_sector.quotient(lanes[i]);
        cost.transactions += sector != last ? 1 : 0;
        last = sector;
    }
    return cost;
}

/// Distinct words per bank, for runs of words in ascending order.
class BankCounter {
public:
    explicit BankCounter(int64_t banks) : by_bank_(banks) {}

    void add_words(int64_t first, int64_t last) {
        first = std::max(first, next_);
        if (first > last) {
            return;
        }
        next_ = last + 1;
        const int64_t count = last - first + 1;
        in_every_bank_ += by_bank_.quotient(count);
        for (int64_t w = last - by_bank_.remainder(count) + 1; w <= last; w++) {
            most_ = std::max(most_, ++words_[by_bank_.remainder(w)]);
        }
    }
    int64_t most() const { return in_every_bank_ + most_; }

private:
    Divider by_bank_;
    int64_t next_ = 0;
    int64_t in_every_bank_ = 0;
    int64_t most_ = 0;
    int64_t words_[kMaxBanks] = {};
};

RequestCost shared_cost(const LaneAddresses &lanes, int64_t bytes, const GpuDevice &device) {
    ANDERSON_CHECK(device.shared_banks > 0 && device.shared_banks <= kMaxBanks)
        << device.shared_banks << " banks of shared memory are not supported.";
    const Divider by_word(device.shared_word_bytes);
    RequestCost cost;
    cost.bytes_used = lanes.count() * bytes;
    BankCounter banks(device.shared_banks);
    for (int i = 0; i < lanes.count(); i++) {
        banks.add_words(by_word.quotient(lanes[i]), by_word.quotient(lanes[i] + bytes - 1));
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

int64_t thread_offset(const ThreadStride &stride, const Extents &storage_stride, int64_t step) {
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
    const uint64_t lanes = last_warp ? layout.last_warp_lanes : layout.first_warp_lanes;
    const int64_t active = __builtin_popcountll(lanes);
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
    const bool whole = !last_warp && layout.warps_per_block > 1;
    const LaneAddresses addresses(access,
                                  layout,
                                  last_warp ? layout.first_thread_of_last_warp(device) : 0,
                                  whole ? device.warp_size : layout.tail_length);
    return kind == TrafficKind::Global ? global_cost(addresses, bytes, device)
                                       : shared_cost(addresses, bytes, device);
}

WarpCosts warp_costs(TrafficKind kind,
                     const WarpAccess &access,
                     const WarpLayout &layout,
                     const GpuDevice &device) {
    WarpCosts costs;
    costs.regular = request_cost(kind, access, layout, false, device);
    if (layout.has_tail_warp) {
        costs.tail = request_cost(kind, access, layout, true, device);
    }
    return costs;
}

void account(MemoryTraffic &traffic,
             const WarpCosts &costs,
             double requests_per_thread,
             const WarpLayout &layout,
             int64_t bytes_per_transaction) {
    const auto moved = static_cast<double>(bytes_per_transaction);
    const auto add = [&](double requests, const RequestCost &cost) {
        const double n = std::trunc(requests);
        const double transactions = n * static_cast<double>(cost.transactions);
        traffic.transactions += transactions;
        traffic.bytes_used += n * static_cast<double>(cost.bytes_used);
        traffic.bytes_moved += transactions * moved;
    };
    add(static_cast<double>(layout.num_regular_warps) * requests_per_thread, costs.regular);
    if (layout.has_tail_warp) {
        add(requests_per_thread, costs.tail);
    }
}

void account(MemoryTraffic &traffic,
             TrafficKind kind,
             const WarpAccess &access,
             double requests_per_thread,
             const WarpLayout *layout,
             const GpuDevice &device) {
    const int64_t moved = transaction_bytes(kind, device);
    if (layout == nullptr) {
        traffic.transactions += requests_per_thread;
        traffic.bytes_used += requests_per_thread * static_cast<double>(access.bytes_per_point);
        traffic.bytes_moved += requests_per_thread * static_cast<double>(moved);
        return;
    }
    account(
        traffic, warp_costs(kind, access, *layout, device), requests_per_thread, *layout, moved);
}

}  // namespace anderson2021
