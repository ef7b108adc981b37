#include "trace_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace anderson2021 {
namespace test {
namespace {

using Kind = Directive::Kind;

// The loops of one stage while calls are applied to it.
class StageLoops {
public:
    StageLoops(const GpuDevice &device, const std::vector<std::string> &names)
        : device_(device), loops_(names.begin(), names.end()) {}

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
            return exists(d.vars.at(0)) && mark(d.vars[0]) &&
                   (++blocks_ <= 3 || refuse("more than three loops of blocks"));
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
    bool has_threads() const { return threads_dims_ > 0; }
    bool has_loop(const std::string &name) const { return loops_.count(name) != 0; }

private:
    bool refuse(const std::string &reason) {
        fault_ = reason;
        return false;
    }
    bool exists(const VarRef &v) {
        return loops_.count(v.name) != 0 || refuse("there is no loop " + v.name);
    }
    bool take(const VarRef &v) {
        return loops_.erase(v.name) != 0 || refuse("there is no loop " + v.name);
    }
    bool put(const VarRef &v) {
        return loops_.insert(v.name).second || refuse("there is a loop " + v.name + " already");
    }
    bool mark(const VarRef &v) {
        return gpu_.insert(v.name).second || refuse(v.name + " is marked twice");
    }
    bool split(const Directive &d) {
        if (d.factor < 1) {
            return refuse("split of " + d.vars[0].name + " by " + std::to_string(d.factor));
        }
        const int64_t extent = take_extent(d.vars[0]);
        if (!take(d.vars[0]) || !put(d.vars[1]) || !put(d.vars[2])) {
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
        if (!take(d.vars[0]) || !take(d.vars[1]) || !put(d.vars[2])) {
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
        for (const VarRef &v : d.vars) {
            if (!exists(v)) {
                return false;
            }
            if (!seen.insert(v.name).second) {
                return refuse("reorder names " + v.name + " twice");
            }
        }
        return d.vars.size() >= 2 || refuse("reorder of one loop");
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
    std::set<std::string> loops_, gpu_;
    std::map<std::string, int64_t> extents_;
    int blocks_ = 0, threads_dims_ = 0;
    int64_t threads_ = 1;
    bool is_single_thread_ = false;
    std::string fault_;
};

std::vector<std::string> loop_names(const StageNode &stage) {
    std::vector<std::string> names;
    for (const LoopDim &loop : stage.loops) {
        names.push_back(loop.var);
    }
    return names;
}

bool is_placed_at_root(const std::vector<Directive> &directives) {
    return std::any_of(directives.begin(), directives.end(), [](const Directive &d) {
        return d.kind == Kind::ComputeRoot;
    });
}

// One of the up to two schedules of a stage.
std::string check_list(const StageNode &stage,
                       const std::vector<Directive> &directives,
                       bool at_root,
                       const GpuDevice &device) {
    StageLoops loops(device, loop_names(stage));
    for (const Directive &d : directives) {
        if (!loops.apply(d)) {
            return stage.name + ": " + loops.fault();
        }
    }
    if (at_root && !loops.has_kernel()) {
        return stage.name + " runs outside of kernels";
    }
    return "";
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
        std::string fault = check_list(stage, s.directives, root, device);
        if (fault.empty() && s.specialization) {
            fault = check_list(stage, s.specialization->directives, root, device);
        }
        if (!fault.empty()) {
            return fault;
        }
    }
    return "";
}

}  // namespace test
}  // namespace anderson2021
