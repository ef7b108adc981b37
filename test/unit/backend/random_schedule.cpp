#include "random_schedule.h"

#include <algorithm>

#include "support/error.h"

namespace anderson2021 {
namespace test {

namespace {

/// Nests from the root to a compute site, as child indices.
struct SitePath {
    std::vector<size_t> path;
    const LoopNest *site = nullptr;
    /// Root child that contains the site; null at the root.
    const LoopNest *block = nullptr;
    bool in_thread = false;
};

class RandomScheduler {
public:
    RandomScheduler(const LoopNestEditor &editor, Rng &rng, const RandomScheduleOptions &options)
        : editor_(editor), graph_(editor.graph()), rng_(rng), options_(options) {}

    LoopNestPtr run() {
        root_ = editor_.make_root();
        for (const FuncNode &f : graph_.funcs) {
            if (!f.is_input) {
                place(f);
            }
        }
        return root_;
    }

private:
    bool may_inline(const FuncNode &f) const {
        if (f.is_output || f.num_stages() > 1 || f.is_extern) {
            return false;
        }
        // Keeps kernels short enough to be compiled quickly.
        return most_calls(*editor_.inline_func(root_, f.id)) <= options_.max_inlined_calls;
    }

    /// Calls of inlined Funcs in a leaf, the largest number.
    static int64_t most_calls(const LoopNest &nest) {
        int64_t calls = 0;
        for (const InlinedCall &c : nest.inlined) {
            calls += c.calls;
        }
        for (const LoopNestPtr &c : nest.children) {
            calls = std::max(calls, most_calls(*c));
        }
        return calls;
    }

    void place(const FuncNode &f) {
        if (may_inline(f) && rng_.uniform() < options_.inline_probability) {
            root_ = editor_.inline_func(root_, f.id);
            return;
        }
        const SitePath site =
            f.is_output || f.is_extern ? SitePath{{}, root_.get(), nullptr, false} : choose_site(f);
        const int vector_dim =
            f.is_output || f.dims() == 0 ? 0 : static_cast<int>(rng_.below(uint32_t(f.dims())));
        root_ = with_func(root_, site, 0, f, vector_dim);
    }

    /// Descends while exactly one child calls the Func, as far as chance wants.
    SitePath choose_site(const FuncNode &f) {
        SitePath at{{}, root_.get(), nullptr, false};
        SitePath best = at;
        while (rng_.uniform() < options_.descend_probability) {
            const LoopNest *next = nullptr;
            size_t index = 0, callers = 0;
            for (size_t i = 0; i < at.site->children.size(); i++) {
                if (at.site->children[i]->calls(f.id)) {
                    next = at.site->children[i].get();
                    index = i;
                    callers++;
                }
            }
            if (callers != 1 || next->innermost) {
                break;
            }
            at.path.push_back(index);
            at.site = next;
            at.block = at.block == nullptr ? next : at.block;
            at.in_thread = at.in_thread || next->axis == GpuAxis::Thread;
            if (fits(f, at)) {
                best = at;
            }
        }
        return best;
    }

    bool fits(const FuncNode &f, const SitePath &at) const {
        const int64_t bytes = at.site->regions->of(f.id).bytes_computed();
        if (at.in_thread) {
            return bytes <= options_.max_thread_bytes;
        }
        int64_t total = bytes;
        for (const int other : at.block->store_set_with_descendants()) {
            total += at.block->regions->of(other).bytes_computed();
        }
        return total <= options_.max_block_bytes;
    }

    LoopNestPtr with_func(const LoopNestPtr &nest,
                          const SitePath &site,
                          size_t depth,
                          const FuncNode &f,
                          int vector_dim) {
        std::vector<LoopNestPtr> children = nest->children;
        if (depth < site.path.size()) {
            LoopNestPtr &c = children[site.path[depth]];
            c = with_func(c, site, depth + 1, f, vector_dim);
            return editor_.with_children(*nest, std::move(children));
        }
        std::vector<LoopNestPtr> placed = editor_.place(f.id, vector_dim, *nest, site.in_thread);
        if (nest->is_root()) {
            placed = tile_at_root(f, placed, *nest);
        } else if (!site.in_thread) {
            placed = tile_in_block(f, placed, *nest, *site.block);
        }
        children.insert(children.end(), placed.begin(), placed.end());
        return editor_.with_children(*nest, std::move(children));
    }

    int64_t pick(std::vector<int64_t> values, int64_t limit) {
        values.erase(
            std::remove_if(values.begin(), values.end(), [&](int64_t v) { return v > limit; }),
            values.end());
        return values[rng_.below(static_cast<uint32_t>(values.size()))];
    }

    /// Trip counts of the pure stage by dimension.
    std::vector<int64_t> pure_sizes(const FuncNode &f, const LoopNest &pure) const {
        std::vector<int64_t> sizes(static_cast<size_t>(f.dims()), 1);
        for (size_t i = 0; i < pure.size.size(); i++) {
            sizes[static_cast<size_t>(f.stages[0].loops[i].pure_dim)] = pure.size[i];
        }
        return sizes;
    }

    /// Thread extents per dimension within `limit` threads and three dimensions.
    std::vector<int64_t>
    random_threads(const std::vector<int64_t> &sizes, int lane, int64_t limit) {
        std::vector<int64_t> threads(sizes.size(), 1);
        int dims = 0;
        for (size_t i = 0; i < sizes.size(); i++) {
            const size_t d = (i + static_cast<size_t>(std::max(lane, 0))) % sizes.size();
            if (dims == 3) {
                continue;
            }
            std::vector<int64_t> choices{1, 2, 4, 8, 16};
            if (i == 0) {
                choices = {1, 16, 32, 64};
            }
            if (sizes[d] < 40) {
                choices.push_back(sizes[d]);
            }
            threads[d] = pick(choices, std::min(sizes[d], limit));
            limit /= threads[d];
            dims += threads[d] > 1 ? 1 : 0;
        }
        return threads;
    }

    std::vector<LoopNestPtr>
    tile_at_root(const FuncNode &f, const std::vector<LoopNestPtr> &placed, const LoopNest &root) {
        if (f.dims() == 0 || f.is_extern) {
            return placed;
        }
        const std::vector<int64_t> sizes = pure_sizes(f, *placed.back());
        std::vector<int64_t> serial, outer;
        for (const int64_t s : sizes) {
            serial.push_back(pick({1, 1, 1, 2, 3, 4, 8}, s));
            outer.push_back((s + serial.back() - 1) / serial.back());
        }
        const std::vector<int64_t> threads = random_threads(outer, placed.back()->vector_dim, 1024);
        std::vector<LoopNestPtr> tiled;
        for (const LoopNestPtr &nest : placed) {
            const LoopNestPtr first =
                editor_.split(*nest, outer, root, {TileIs::Outer, true, true});
            tiled.push_back(editor_.split(*first, threads, root, {TileIs::Inner, false, true}));
        }
        return tiled;
    }

    std::vector<LoopNestPtr> tile_in_block(const FuncNode &f,
                                           const std::vector<LoopNestPtr> &placed,
                                           const LoopNest &site,
                                           const LoopNest &block) {
        const Extents used = block.union_thread_extents();
        int64_t limit = 1024;
        for (const int64_t u : used) {
            limit /= u;
        }
        std::vector<LoopNestPtr> tiled;
        const bool without_threads = rng_.below(8) == 0;
        const std::vector<int64_t> threads =
            random_threads(pure_sizes(f, *placed.back()), placed.back()->vector_dim, limit);
        for (const LoopNestPtr &nest : placed) {
            if (f.dims() == 0 || without_threads) {
                tiled.push_back(editor_.with_axis(*nest, GpuAxis::Serial));
            } else {
                tiled.push_back(editor_.split(*nest, threads, site, {TileIs::Outer, false, true}));
            }
        }
        return tiled;
    }

    const LoopNestEditor &editor_;
    const PipelineGraph &graph_;
    Rng &rng_;
    const RandomScheduleOptions &options_;
    LoopNestPtr root_;
};

}  // namespace

LoopNestPtr
random_schedule(const LoopNestEditor &editor, Rng &rng, const RandomScheduleOptions &options) {
    return RandomScheduler(editor, rng, options).run();
}

}  // namespace test
}  // namespace anderson2021
