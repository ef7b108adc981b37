#include "lowering/trace_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace anderson2021 {
namespace {

using Kind = Directive::Kind;

// The loops of one stage while calls are applied to it.
class StageLoops {
public:
    StageLoops(const GpuDevice &device, const StageNode &stage) : device_(device) {
        std::vector<LoopDim> dims = stage.loops;
        std::sort(dims.begin(), dims.end(), [](const LoopDim &a, const LoopDim &b) {
            return a.dims_index < b.dims_index;
        });
        for (const LoopDim &d : dims) {
            loops_.push_back(d.var);
            if (d.source == LoopDim::Source::Constant) {
                extents_[d.var] = d.constant_span.extent();
            }
        }
    }

    // False, and fault(), if the call is refused.
    bool apply(const Directive &d) {
        switch (d.kind) {
        case Kind::Split:
            return d.vars.size() == 3 ? split(d) : refuse("split needs three loops");
        case Kind::Fuse:
            return d.vars.size() == 3 ? fuse(d) : refuse("fuse needs three loops");
        case Kind::Reorder:
            return reorder(d);
        case Kind::Unroll:
            return exists(d.vars.at(0));
        case Kind::GpuBlocks:
            return exists(d.vars.at(0)) && mark(d.vars[0]) && add_blocks(d.vars[0]);
        case Kind::GpuThreads:
            return exists(d.vars.at(0)) && mark(d.vars[0]) && add_threads(d.vars[0]);
        case Kind::GpuSingleThread:
            is_single_thread_ = true;
            return true;
        case Kind::ComputeRoot:
        case Kind::ComputeAt:
        case Kind::ReorderStorage:
            return true;
        }
        return refuse("unknown call");
    }

    const std::string &fault() const { return fault_; }
    bool has_kernel() const { return blocks_ > 0 || is_single_thread_; }

    // Empty if loops of blocks follow each other, and none around them takes more than one turn.
    std::string fault_of_order() const {
        bool in_kernel = false, in_block = false;
        for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
            const auto extent = extents_.find(*loop);
            const bool single = extent != extents_.end() && extent->second <= 1;
            const bool is_block = block_loops_.count(*loop) != 0;
            if (is_block && in_block) {
                return *loop + " is a loop of blocks inside a loop of a block";
            }
            in_block = in_block || (in_kernel && !is_block && !single);
            in_kernel = in_kernel || is_block;
            if (!in_kernel && blocks_ > 0 && extent != extents_.end() && !single) {
                return "the loop " + *loop + " launches its kernel again and again";
            }
        }
        return "";
    }

private:
    bool refuse(const std::string &reason) {
        fault_ = reason;
        return false;
    }
    size_t place_of(const std::string &name) const {
        return static_cast<size_t>(std::find(loops_.begin(), loops_.end(), name) - loops_.begin());
    }
    bool exists(const VarRef &v) {
        return place_of(v.name) < loops_.size() || refuse("there is no loop " + v.name);
    }
    // The new loop takes the place of another, or comes around it.
    bool replace(const VarRef &old, const VarRef &with) {
        if (with.name != old.name && place_of(with.name) < loops_.size()) {
            return refuse("there is a loop " + with.name + " already");
        }
        loops_[place_of(old.name)] = with.name;
        return true;
    }
    bool put_around(const VarRef &inner, const VarRef &outer) {
        if (place_of(outer.name) < loops_.size()) {
            return refuse("there is a loop " + outer.name + " already");
        }
        const auto at = static_cast<std::ptrdiff_t>(place_of(inner.name) + 1);
        loops_.insert(loops_.begin() + at, outer.name);
        return true;
    }
    bool mark(const VarRef &v) {
        return gpu_.insert(v.name).second || refuse(v.name + " is marked twice");
    }
    bool split(const Directive &d) {
        if (d.factor < 1) {
            return refuse("split of " + d.vars[0].name + " by " + std::to_string(d.factor));
        }
        const int64_t extent = take_extent(d.vars[0]);
        if (!exists(d.vars[0]) || !replace(d.vars[0], d.vars[2]) ||
            !put_around(d.vars[2], d.vars[1])) {
            return false;
        }
        if (extent > 0) {
            extents_[d.vars[1].name] = (extent + d.factor - 1) / d.factor;
        }
        extents_[d.vars[2].name] = d.factor;
        return true;
    }
    bool fuse(const Directive &d) {
        const int64_t inner = take_extent(d.vars[0]), outer = take_extent(d.vars[1]);
        if (!exists(d.vars[0]) || !exists(d.vars[1]) || d.vars[0].name == d.vars[1].name) {
            return refuse("fuse of " + d.vars[0].name + " and " + d.vars[1].name);
        }
        loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(place_of(d.vars[1].name)));
        if (!replace(d.vars[0], d.vars[2])) {
            return false;
        }
        if (inner > 0 && outer > 0) {
            extents_[d.vars[2].name] = inner * outer;
        }
        return true;
    }
    // Of a loop that is about to vanish; 0 if it is not known.
    int64_t take_extent(const VarRef &v) {
        const auto known = extents_.find(v.name);
        const int64_t extent = known == extents_.end() ? 0 : known->second;
        extents_.erase(v.name);
        return extent;
    }
    bool reorder(const Directive &d) {
        std::set<std::string> seen;
        std::set<size_t> places;
        for (const VarRef &v : d.vars) {
            if (!exists(v)) {
                return false;
            }
            if (!seen.insert(v.name).second) {
                return refuse("reorder names " + v.name + " twice");
            }
            places.insert(place_of(v.name));
        }
        auto place = places.begin();
        for (const VarRef &v : d.vars) {
            loops_[*place++] = v.name;
        }
        return d.vars.size() >= 2 || refuse("reorder of one loop");
    }
    bool add_blocks(const VarRef &v) {
        block_loops_.insert(v.name);
        return ++blocks_ <= 3 || refuse("more than three loops of blocks");
    }
    bool add_threads(const VarRef &v) {
        const auto extent = extents_.find(v.name);
        const int64_t threads = extent == extents_.end() ? 1 : extent->second;
        if (threads_dims_ >= 3) {
            return refuse("more than three loops of threads");
        }
        if (threads > device_.max_thread_extent[threads_dims_++]) {
            return refuse(std::to_string(threads) + " threads along " + v.name);
        }
        threads_ *= threads;
        return threads_ <= device_.max_threads_per_block ||
               refuse(std::to_string(threads_) + " threads");
    }

    const GpuDevice &device_;
    // Innermost first.
    std::vector<std::string> loops_;
    std::set<std::string> gpu_, block_loops_;
    std::map<std::string, int64_t> extents_;
    int blocks_ = 0, threads_dims_ = 0;
    int64_t threads_ = 1;
    bool is_single_thread_ = false;
    std::string fault_;
};

bool is_placed_at_root(const std::vector<Directive> &directives) {
    return std::any_of(directives.begin(), directives.end(), [](const Directive &d) {
        return d.kind == Kind::ComputeRoot;
    });
}

// One of the up to two schedules of a stage.
std::string check_list(const StageNode &stage,
                       const std::vector<Directive> &directives,
                       bool at_root,
                       bool is_extern,
                       const GpuDevice &device) {
    StageLoops loops(device, stage);
    for (const Directive &d : directives) {
        if (!loops.apply(d)) {
            return stage.name + ": " + loops.fault();
        }
    }
    if (at_root && !is_extern && !loops.has_kernel()) {
        return stage.name + " runs outside of kernels";
    }
    if (!at_root && loops.has_kernel()) {
        return stage.name + " has a kernel inside another";
    }
    const std::string fault = loops.fault_of_order();
    return fault.empty() ? "" : stage.name + ": " + fault;
}

}  // namespace

std::string
check_trace(const ScheduleTrace &trace, const PipelineGraph &graph, const GpuDevice &device) {
    std::set<std::pair<int, int>> seen;
    std::map<int, bool> at_root;
    for (const StageDirectives &s : trace.stages) {
        const FuncNode &func = graph.func(s.func);
        const StageNode &stage = func.stages.at(static_cast<size_t>(s.stage_index));
        if (!seen.insert({s.func, s.stage_index}).second) {
            return stage.name + " is scheduled twice";
        }
        for (const Directive &d : s.directives) {
            if (d.kind == Kind::ComputeAt && (d.at_func < 0 || d.at_func >= s.func)) {
                return stage.name + " is computed in a Func that does not read it";
            }
        }
        if (s.stage_index == 0) {
            at_root[s.func] = func.is_output || is_placed_at_root(s.directives);
        }
        if (at_root.count(s.func) == 0) {
            return stage.name + " comes before the pure stage";
        }
        const bool root = at_root[s.func];
        std::string fault = check_list(stage, s.directives, root, func.is_extern, device);
        if (fault.empty() && s.specialization) {
            fault = check_list(stage, s.specialization->directives, root, func.is_extern, device);
        }
        if (!fault.empty()) {
            return fault;
        }
    }
    return "";
}

}  // namespace anderson2021
