// Worked requests, and random ones against a simulation byte by byte.
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "device/memory_traffic.h"

namespace anderson2021 {
namespace {

const GpuDevice kV100;

ThreadStride stride(std::vector<double> index_stride) {
    return {true, std::move(index_stride)};
}

ThreadStride unknown_stride(size_t dims) {
    return {false, std::vector<double>(dims, 0.0)};
}

double third() {
    return static_cast<double>(1.0f / 3.0f);
}

WarpLayout layout_of(const std::vector<int64_t> &size, const std::vector<int64_t> &grid) {
    return make_warp_layout(size, 0, grid, kV100);
}

WarpLayout full_layout(const std::vector<int64_t> &size) {
    return layout_of(size, size);
}

RequestCost first_warp(TrafficKind kind, const WarpAccess &access, const WarpLayout &layout) {
    return request_cost(kind, access, layout, false, kV100);
}

TEST(ThreadOffset, Table) {
    const auto offsets = [](const ThreadStride &s, const std::vector<int64_t> &storage) {
        std::vector<int64_t> result;
        for (int64_t t = 0; t < 4; t++) {
            result.push_back(thread_offset(s, storage, t));
        }
        return result;
    };
    using V = std::vector<int64_t>;
    EXPECT_EQ(offsets(stride({1, 0}), {1, 64}), (V{0, 1, 2, 3}));
    EXPECT_EQ(offsets(stride({0, 0.5}), {1, 64}), (V{0, 0, 64, 64}));
    EXPECT_EQ(offsets(stride({0, 0.5, 0}), {1, 321, 61953}), (V{0, 0, 321, 321}));
    EXPECT_EQ(offsets(stride({4, 0, 0}), {1, 321, 61953}), (V{0, 4, 8, 12}));
    // The sign is lost, and fractions are cut towards zero before that.
    EXPECT_EQ(offsets(stride({-1, 0}), {1, 64}), (V{0, 1, 2, 3}));
    EXPECT_EQ(offsets(stride({0, -0.5}), {1, 64}), (V{0, 0, 64, 64}));
    // A third is rounded to single precision first, upwards.
    EXPECT_EQ(offsets(stride({third()}), {1}), (V{0, 0, 0, 1}));
    EXPECT_EQ(offsets(stride({1, -1}), {1, 64}), (V{0, 63, 126, 189}));
}

TEST(RequestCost, AddressesOfThreadDimensionsAddUp) {
    // 2 x 2 threads read elements 0, 0, 4, 4: two of them 16 bytes apart, in one sector.
    const WarpAccess access{{stride({0, 0.5, 0}), stride({4, 0, 0})}, {1, 321, 61953}, 4};
    const RequestCost cost = first_warp(TrafficKind::Global, access, full_layout({2, 2}));
    EXPECT_EQ(cost.transactions, 1);
    EXPECT_EQ(cost.bytes_used, 8);
}

TEST(RequestCost, GlobalSectorsOfAFullWarp) {
    const WarpLayout along_x = full_layout({32, 1});
    const auto cost = [&](const ThreadStride &s, int64_t row) {
        const WarpAccess access{{s}, {1, row}, 4};
        return first_warp(TrafficKind::Global, access, along_x);
    };
    EXPECT_EQ(cost(stride({1, 0}), 1024).transactions, 4);
    EXPECT_EQ(cost(stride({1, 0}), 1024).bytes_used, 128);
    EXPECT_EQ(cost(stride({0.5, 0}), 512).transactions, 2);
    EXPECT_EQ(cost(stride({0.5, 0}), 512).bytes_used, 64);
    EXPECT_EQ(cost(stride({0, 0.5}), 1024).transactions, 16);
    EXPECT_EQ(cost(stride({0, 0}), 1024).transactions, 1);
    EXPECT_EQ(cost(stride({0, 0}), 1024).bytes_used, 4);
    EXPECT_EQ(cost(stride({0, 1}), 1024).transactions, 32);
    EXPECT_EQ(cost(stride({-1, 0}), 1024).transactions, 4);
}

TEST(RequestCost, LanesWithoutAddress) {
    const WarpAccess access{{stride({1}), unknown_stride(1)}, {1}, 4};
    for (const TrafficKind kind : {TrafficKind::Global, TrafficKind::Shared}) {
        const RequestCost cost = first_warp(kind, access, full_layout({16, 2}));
        EXPECT_EQ(cost.transactions, 32);
        EXPECT_EQ(cost.bytes_used, 128);
    }
}

TEST(RequestCost, SharedBankConflicts) {
    const WarpLayout warp = full_layout({32});
    const auto transactions = [&](double step, int64_t bytes) {
        const WarpAccess access{{stride({step})}, {1}, bytes};
        return first_warp(TrafficKind::Shared, access, warp).transactions;
    };
    EXPECT_EQ(transactions(0, 4), 1);
    EXPECT_EQ(transactions(1, 4), 1);
    EXPECT_EQ(transactions(2, 4), 2);
    EXPECT_EQ(transactions(4, 4), 4);
    EXPECT_EQ(transactions(32, 4), 32);
    EXPECT_EQ(transactions(33, 4), 1);
    EXPECT_EQ(transactions(1, 8), 2);
    EXPECT_EQ(transactions(1, 1), 1);
    EXPECT_EQ(transactions(0, 256), 2);
    // 32 lanes of 12 bytes cover 96 consecutive words.
    EXPECT_EQ(transactions(1, 12), 3);
}

TEST(RequestCost, LocalIsBytesOfActiveLanes) {
    const WarpAccess access{{stride({1})}, {1}, 4};
    EXPECT_EQ(first_warp(TrafficKind::Local, access, full_layout({32})).transactions, 4);
    EXPECT_EQ(first_warp(TrafficKind::Local, access, full_layout({9})).transactions, 2);
    EXPECT_EQ(first_warp(TrafficKind::Local, access, full_layout({9})).bytes_used, 36);
}

// 24 x 2 threads: warp 0 has lanes (0..23, 0) and (0..7, 1), the tail warp (8..23, 1).
TEST(Account, TailWarp) {
    const WarpLayout layout = full_layout({24, 2});
    const auto traffic =
        [&](const std::vector<int64_t> &storage, const ThreadStride &x, const ThreadStride &y) {
            MemoryTraffic t;
            account(t, TrafficKind::Global, {{x, y}, storage, 4}, 1, &layout, kV100);
            return t;
        };
    const MemoryTraffic store = traffic({1, 24}, stride({1, 0}), stride({0, 1}));
    EXPECT_EQ(store.transactions, 6);
    EXPECT_EQ(store.bytes_used, 192);

    const MemoryTraffic direct = traffic({1, 40}, stride({1, 0}), stride({0, 1}));
    EXPECT_EQ(direct.transactions, 6);
    const MemoryTraffic transposed = traffic({1, 40}, stride({0, 1}), stride({1, 0}));
    EXPECT_EQ(transposed.transactions, 40);
    EXPECT_EQ(transposed.bytes_used, 192);

    MemoryTraffic sum = direct;
    sum.add(transposed);
    EXPECT_EQ(sum.transactions, 46);
    EXPECT_DOUBLE_EQ(sum.efficiency(), 384.0 / 1472);
}

TEST(Account, MatrixMultiplication) {
    // 64 x 1 threads; A moves by one element per lane, B is the same for all lanes.
    const WarpLayout layout = full_layout({64, 1});
    MemoryTraffic t;
    account(t, TrafficKind::Global, {{stride({1, 0})}, {1, 1024}, 4}, 1024, &layout, kV100);
    EXPECT_EQ(t.transactions, 8192);
    account(t, TrafficKind::Global, {{stride({0, 0})}, {1, 1024}, 4}, 4096, &layout, kV100);
    account(t, TrafficKind::Global, {{stride({1, 0})}, {1, 1024}, 4}, 4, &layout, kV100);
    EXPECT_EQ(t.transactions, 16416);
    EXPECT_EQ(t.bytes_moved, 525312);
    EXPECT_EQ(t.bytes_used, 295936);
}

TEST(Account, VectorisedSharedLoadsAndStores) {
    // 32 x 4 threads, four floats between neighbouring lanes.
    const WarpLayout layout = full_layout({32, 4});
    MemoryTraffic loads;
    const WarpAccess shared{{stride({4, 0}), stride({0, 1})}, {1, 192}, 4};
    account(loads, TrafficKind::Shared, shared, 2, &layout, kV100);
    EXPECT_EQ(loads.transactions, 32);
    EXPECT_EQ(loads.efficiency(), 0.25);

    MemoryTraffic stores;
    const WarpAccess global{{stride({4, 0}), stride({0, 1})}, {1, 1024}, 4};
    account(stores, TrafficKind::Global, global, 4, &layout, kV100);
    EXPECT_EQ(stores.transactions, 256);
    EXPECT_EQ(stores.efficiency(), 0.25);
}

TEST(Account, WithoutThreads) {
    MemoryTraffic t;
    account(t, TrafficKind::Shared, {{}, {}, 8}, 2.5, nullptr, kV100);
    EXPECT_EQ(t.transactions, 2.5);
    EXPECT_EQ(t.bytes_used, 20);
    EXPECT_EQ(t.bytes_moved, 2.5 * 128);
}

TEST(Account, NumbersOfRequestsAreCutToWholeOnes) {
    // 48 threads: one regular warp of 32 lanes and a tail warp of 16.
    const WarpLayout tail = full_layout({48});
    ASSERT_TRUE(tail.has_tail_warp);
    MemoryTraffic t;
    account(t, TrafficKind::Global, {{stride({1})}, {1}, 4}, 0.75, &tail, kV100);
    EXPECT_EQ(t.transactions, 0);
    // Three warps with 0.75 requests each make two.
    const WarpLayout three = full_layout({96});
    account(t, TrafficKind::Global, {{stride({1})}, {1}, 4}, 0.75, &three, kV100);
    EXPECT_EQ(t.transactions, 2 * 4);
}

TEST(Account, ManyRequestsDoNotOverflow) {
    const WarpLayout layout = full_layout({32});
    MemoryTraffic t;
    account(t, TrafficKind::Global, {{stride({1})}, {1}, 4}, 1e12, &layout, kV100);
    EXPECT_EQ(t.transactions, 4e12);
}

TEST(Efficiency, IsClampedAndDefaultsToOne) {
    EXPECT_EQ(MemoryTraffic{}.efficiency(), 1);
    // Three lanes of 12 bytes use 36 bytes of the one sector in which they start.
    const WarpLayout three = full_layout({3});
    MemoryTraffic t;
    account(t, TrafficKind::Global, {{stride({1})}, {1}, 12}, 1, &three, kV100);
    EXPECT_EQ(t.transactions, 1);
    EXPECT_EQ(t.bytes_used, 36);
    EXPECT_EQ(t.efficiency(), 1);
}

// ---- Slow reference ----------------------------------------------------------------------------

/// Byte addresses (or none) of the active lanes of one warp, from thread numbers alone.
struct SlowWarp {
    std::vector<int64_t> addresses;
    int64_t without_address = 0;
};

SlowWarp slow_warp(const WarpAccess &access, const WarpLayout &l, int64_t begin) {
    SlowWarp warp;
    const int64_t threads = l.grid[0] * l.grid[1] * l.grid[2];
    for (int64_t id = begin; id < std::min(begin + 32, threads); id++) {
        const int64_t at[3] = {
            id % l.grid[0], id / l.grid[0] % l.grid[1], id / l.grid[0] / l.grid[1]};
        if (at[0] >= l.extent[0] || at[1] >= l.extent[1] || at[2] >= l.extent[2]) {
            continue;
        }
        int64_t address = 0;
        bool known = true;
        for (size_t k = 0; k < access.strides.size(); k++) {
            int64_t offset = 0;
            for (size_t d = 0; d < access.storage_stride.size(); d++) {
                const double index = static_cast<double>(at[k]) * access.strides[k].index_stride[d];
                offset += static_cast<int64_t>(index) * access.storage_stride[d];
            }
            known = known && access.strides[k].valid;
            address += access.bytes_per_point * std::abs(offset);
        }
        if (known) {
            warp.addresses.push_back(address);
        } else {
            warp.without_address++;
        }
    }
    return warp;
}

RequestCost slow_cost(TrafficKind kind, const SlowWarp &warp, int64_t bytes) {
    RequestCost cost{warp.without_address, warp.without_address * bytes};
    if (kind == TrafficKind::Global) {
        std::map<int64_t, std::set<int64_t>> bytes_of_sector;
        for (const int64_t a : warp.addresses) {
            for (int64_t b = a; b < a + bytes; b++) {
                bytes_of_sector[a / 32].insert(b);
            }
        }
        for (const auto &sector : bytes_of_sector) {
            cost.transactions++;
            cost.bytes_used += static_cast<int64_t>(sector.second.size());
        }
    } else {
        std::set<int64_t> all_bytes;
        std::map<int64_t, std::set<int64_t>> words_of_bank;
        for (const int64_t a : warp.addresses) {
            for (int64_t b = a; b < a + bytes; b++) {
                all_bytes.insert(b);
                words_of_bank[b / 4 % 32].insert(b / 4);
            }
        }
        size_t most = 0;
        for (const auto &bank : words_of_bank) {
            most = std::max(most, bank.second.size());
        }
        cost.transactions += static_cast<int64_t>(most);
        cost.bytes_used += static_cast<int64_t>(all_bytes.size());
    }
    return cost;
}

class RandomAccess {
public:
    explicit RandomAccess(uint32_t seed) : random_(seed) {}

    int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }

    WarpLayout layout() {
        // Shapes of all kinds: long rows, short rows, several slices, idle rows and columns.
        static const int64_t kExtents[] = {1, 2, 3, 5, 8, 11, 16, 24, 32, 33, 48, 64, 100, 900};
        std::vector<int64_t> grid, own;
        int64_t total = 1;
        for (int k = 0; k < 3; k++) {
            int64_t e = kExtents[below(k == 0 ? 14 : 10)];
            if (total * e > 1024) {
                e = 1;
            }
            total *= e;
            grid.push_back(e);
            own.push_back(below(3) == 0 ? 1 + below(e) : e);
        }
        return layout_of(own, grid);
    }

    WarpAccess access(const WarpLayout &layout) {
        static const int64_t kBytes[] = {1, 2, 3, 4, 8, 12, 16, 24, 40, 130};
        static const int64_t kStorage[] = {0, 1, 2, 3, 7, 8, 31, 32, 64, 1000};
        WarpAccess access;
        access.bytes_per_point = kBytes[below(10)];
        const int64_t dims = below(4);
        for (int64_t d = 0; d < dims; d++) {
            access.storage_stride.push_back(d == 0 ? 1 : kStorage[below(10)]);
        }
        for (size_t k = 0; k < layout.loops.size(); k++) {
            ThreadStride s;
            s.valid = below(20) != 0;
            for (int64_t d = 0; d < dims; d++) {
                s.index_stride.push_back(derivative());
            }
            access.strides.push_back(s);
        }
        return access;
    }

private:
    double derivative() {
        if (below(2) == 0) {
            return 0;
        }
        const auto n = static_cast<float>(below(9) - 4);
        const auto d = static_cast<float>(below(3) == 0 ? 1 + below(7) : 1);
        return static_cast<double>(n / d);
    }

    std::mt19937 random_;
};

TEST(RequestCost, RandomAccessesByteByByte) {
    RandomAccess random(7);
    int tails = 0;
    for (int i = 0; i < 20000; i++) {
        const WarpLayout l = random.layout();
        const WarpAccess access = random.access(l);
        for (const TrafficKind kind : {TrafficKind::Global, TrafficKind::Shared}) {
            const RequestCost fast = first_warp(kind, access, l);
            const RequestCost slow =
                slow_cost(kind, slow_warp(access, l, 0), access.bytes_per_point);
            ASSERT_EQ(fast.transactions, slow.transactions) << "access " << i;
            ASSERT_EQ(fast.bytes_used, slow.bytes_used) << "access " << i;

            const int64_t last = (l.warps_per_block - 1) * 32;
            const RequestCost slow_tail =
                slow_cost(kind, slow_warp(access, l, last), access.bytes_per_point);
            const RequestCost fast_tail = request_cost(kind, access, l, true, kV100);
            ASSERT_EQ(fast_tail.transactions, slow_tail.transactions) << "access " << i;
            ASSERT_EQ(fast_tail.bytes_used, slow_tail.bytes_used) << "access " << i;

            MemoryTraffic t;
            account(t, kind, access, 3.5, &l, kV100);
            const auto regular = static_cast<double>(
                static_cast<int64_t>(3.5 * static_cast<double>(l.num_regular_warps)));
            const double expected =
                regular * static_cast<double>(slow.transactions) +
                (l.has_tail_warp ? 3.0 * static_cast<double>(slow_tail.transactions) : 0.0);
            ASSERT_EQ(t.transactions, expected) << "access " << i;
        }
        tails += l.has_tail_warp;
    }
    EXPECT_GT(tails, 1000);
}

TEST(RequestCost, AbsurdStridesDoNotOverflow) {
    const int64_t huge = INT64_MAX / 2;
    const WarpAccess access{{stride({3, 0.5}), stride({-4, 2})}, {huge, huge - 1}, 8};
    const RequestCost cost = first_warp(TrafficKind::Global, access, full_layout({16, 4}));
    EXPECT_GE(cost.transactions, 1);
    EXPECT_LE(cost.transactions, 32);
    EXPECT_LE(first_warp(TrafficKind::Shared, access, full_layout({16, 4})).transactions, 64);
}

}  // namespace
}  // namespace anderson2021
