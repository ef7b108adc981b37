#include "lowering/block_mapping.h"

#include <algorithm>
#include <utility>

namespace anderson2021 {

namespace {

int64_t saturating_product(const Extents &trips, size_t begin, size_t end) {
    constexpr int64_t kMany = int64_t{1} << 40;
    int64_t product = 1;
    for (size_t i = begin; i < end; i++) {
        product = std::min(kMany, product * std::min(kMany, std::max<int64_t>(trips[i], 1)));
        if (product >= kMany) {
            return kMany;
        }
    }
    return product;
}

bool fits_grid(const Extents &trips, size_t a, size_t b, const GpuDevice &device) {
    const size_t ends[] = {0, a, b, trips.size()};
    for (size_t g = 0; g < 3; g++) {
        const int64_t blocks = saturating_product(trips, ends[g], ends[g + 1]);
        if (blocks * kGridHeadroom > device.max_grid_extent[g]) {
            return false;
        }
    }
    return true;
}

bool is_single_trip(const LoopVar &v) {
    return v.exact && v.trips <= 1;
}

/// Number of loops at the front of the outermost level that stay ordinary loops.
size_t count_ordinary_loops(const std::vector<LoopVar> &vars) {
    const auto first_block = std::find_if_not(vars.begin(), vars.end(), is_single_trip);
    return first_block == vars.end() ? 0 : static_cast<size_t>(first_block - vars.begin());
}

/// Makes up to `factor` times as many threads out of blocks, innermost loops first.
void fill_warps(StagePlan &plan, int64_t factor) {
    Extents &blocks = plan.levels.front().size;
    Extents &threads = plan.levels[static_cast<size_t>(plan.thread_level())].size;
    for (const int i : loop_order(plan)) {
        const size_t at = static_cast<size_t>(i);
        const int64_t part = plan.loop(i).rvar ? 1 : std::min(factor, blocks[at]);
        threads[at] *= part;
        blocks[at] = (blocks[at] + part - 1) / part;
        factor /= part;
    }
}

}  // namespace

std::vector<int> group_grid(const Extents &trips, const GpuDevice &device) {
    const size_t n = trips.size();
    if (n == 0) {
        return {};
    }
    const auto sizes = [n](size_t a, size_t b) {
        std::vector<int> groups;
        for (const size_t size : {a, b - a, n - b}) {
            if (size > 0) {
                groups.push_back(static_cast<int>(size));
            }
        }
        return groups;
    };
    // The fewest loops in x, then the fewest in y.
    for (size_t a = 1; a <= n; a++) {
        for (size_t b = std::min(a + 1, n); b <= n; b++) {
            if (fits_grid(trips, a, b, device)) {
                return sizes(a, b);
            }
        }
    }
    return sizes(n, n);
}

void move_single_trips_inside_blocks(StagePlan &plan) {
    std::vector<LoopVar> &vars = plan.levels.front().vars;
    std::stable_partition(vars.begin(), vars.end(), is_single_trip);
}

void map_blocks(StagePlan &plan, const GpuDevice &device) {
    if (plan.in_thread) {
        plan.add(Directive::Kind::GpuSingleThread, {});
        return;
    }
    std::vector<LoopVar> &vars = plan.levels.front().vars;
    const size_t first = count_ordinary_loops(vars);
    Extents trips;
    for (size_t i = first; i < vars.size(); i++) {
        trips.push_back(vars[i].trips);
    }
    std::vector<LoopVar> remaining(vars.begin(), vars.begin() + static_cast<std::ptrdiff_t>(first));
    size_t next = first;
    for (const int size : group_grid(trips, device)) {
        LoopVar block = vars[next];
        for (int i = 1; i < size; i++) {
            const LoopVar &outer = vars[next + static_cast<size_t>(i)];
            plan.add(Directive::Kind::Fuse, {block.ref, outer.ref, block.ref});
        }
        next += static_cast<size_t>(size);
        plan.add(Directive::Kind::GpuBlocks, {block.ref});
        remaining.push_back(block);
    }
    vars = std::move(remaining);
}

void spread_blocks_over_threads(StagePlan &plan, const GpuDevice &device) {
    const LoopNest &block = *plan.outermost;
    for (const LoopNestPtr &c : block.children) {
        if (c->stage_id != block.stage_id) {
            return;
        }
    }
    const int thread_level = plan.thread_level();
    int64_t num_threads = 1;
    if (thread_level >= 0) {
        for (const int64_t size : plan.levels[static_cast<size_t>(thread_level)].size) {
            num_threads *= size;
        }
    }
    Extents &blocks = plan.levels.front().size;
    int64_t num_blocks = 1;
    for (size_t i = 0; i < blocks.size(); i++) {
        num_blocks *= plan.loop(static_cast<int>(i)).rvar ? 1 : blocks[i];
    }
    const int64_t room = device.warp_size / num_threads;
    const bool is_tiny = num_blocks * num_threads <= int64_t{device.num_sms} * device.warp_size;
    if (room <= 1 || num_blocks == 1 || (num_threads > 1 && !is_tiny)) {
        return;
    }
    if (thread_level < 0) {
        PlanLevel level;
        level.axis = GpuAxis::Thread;
        level.size.assign(blocks.size(), 1);
        plan.levels.insert(plan.levels.begin() + 1, std::move(level));
    }
    fill_warps(plan, room);
}

}  // namespace anderson2021
