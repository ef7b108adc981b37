#include "fuzz_graph.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graph_fixtures.h"
#include "schedule/regions.h"
#include "support/rng.h"

namespace anderson2021 {
namespace test {
namespace {

constexpr int64_t kExtents[] = {
    1,   1,   2,   3,   4,   5,    7,    8,    16,   31,   32,   33,    61,    64,     97,      100,
    128, 255, 256, 509, 512, 1000, 1021, 1024, 1536, 2048, 4093, 16384, 65537, 999983, 10000000};
constexpr const char *kVars[] = {"a", "b", "c", "d", "e", "f"};
// Points of an output. The regions of its producers grow from there.
constexpr int64_t kMaxPoints = 200'000'000;
// What the compiler has room for: points of a Func and iterations of a stage. Larger graphs are not
// tried.
constexpr double kMaxRegion = 2147483647, kMaxIterations = 1e12;

class Maker {
public:
    explicit Maker(uint32_t seed) : rng_(seed) {}

    PipelineGraph make() {
        const int num_funcs = 1 + below(chance(70) ? 6 : 12);
        for (int i = 0; i <= num_funcs; i++) {
            // Most Funcs of a pipeline have the same dimensions.
            dims_.push_back(i == 0 || chance(30) ? below(chance(85) ? 4 : 7) : dims_[0]);
        }
        for (int i = 0; i < num_funcs; i++) {
            add_func(i, num_funcs);
        }
        builder_.func("in", args(num_funcs)).input().bytes_per_point(bytes());
        return builder_.build();
    }

private:
    int below(int n) { return static_cast<int>(rng_.below(static_cast<uint32_t>(n))); }
    bool chance(int percent) { return below(100) < percent; }
    int64_t bytes() { return int64_t{1} << (chance(60) ? 2 : below(5)); }
    std::vector<std::string> args(int func) const {
        return {kVars, kVars + dims_[static_cast<size_t>(func)]};
    }

    std::vector<Span> region(int dims) {
        std::vector<Span> result;
        int64_t points = 1;
        const bool bounded = chance(50);
        for (int d = 0; d < dims; d++) {
            int64_t extent = kExtents[below(static_cast<int>(std::size(kExtents)))];
            extent = std::max<int64_t>(1, std::min(extent, kMaxPoints / points));
            points *= extent;
            const int64_t min = chance(80) ? 0 : below(200) - 100;
            result.push_back({min, min + extent - 1, bounded, bounded});
        }
        return result;
    }

    // One coordinate for dimension `d` of a producer, over the loops `vars` (may be none).
    Coord coordinate(const std::vector<std::string> &vars, size_t d, int kind) {
        if (vars.empty() || chance(4)) {
            const int64_t low = below(9);
            return constant(low, low + (chance(50) ? 0 : below(300)));
        }
        const std::string &var =
            vars[d < vars.size() && !chance(3)
                     ? d
                     : static_cast<size_t>(below(static_cast<int>(vars.size())))];
        switch (kind) {
        case 1:
            return at(var, -below(4), below(4));
        case 2:
            return scaled(var, chance(80) ? 2 : (chance(50) ? 3 : -1));
        case 3:
            return divided(var, chance(80) ? 2 : 4);
        case 4: {
            const int64_t shift = below(7) - 3;
            return at(var, shift, shift);
        }
        default:
            return at(var);
        }
    }

    void read(const std::string &producer, int dims, std::vector<std::string> vars) {
        const int kind = below(6);
        if (kind == 5 && vars.size() > 1) {
            std::swap(vars[0], vars[1]);
        }
        std::vector<Coord> coords;
        int64_t points = 1;
        for (int d = 0; d < dims; d++) {
            coords.push_back(coordinate(vars, static_cast<size_t>(d), chance(60) ? kind : 0));
            points *= coords.back().high - coords.back().low + 1;
        }
        builder_.reads(producer, coords, std::min<int64_t>(points, 1 + below(25)));
    }

    // Reads the next Func, so that every one has a reader, and now and then others further on.
    void read_some(int func, int num_funcs, const std::vector<std::string> &vars) {
        for (int p = func + 1; p <= num_funcs; p++) {
            if (p == func + 1 || chance(12)) {
                read(name(p, num_funcs), dims_[static_cast<size_t>(p)], vars);
            }
        }
    }

    static std::string name(int func, int num_funcs) {
        return func == num_funcs ? "in" : "f" + std::to_string(func);
    }

    void add_func(int func, int num_funcs) {
        const std::vector<std::string> vars = args(func);
        builder_.func(name(func, num_funcs), vars).bytes_per_point(bytes());
        if (func == 0 || chance(10)) {
            builder_.output_region(region(static_cast<int>(vars.size())));
        }
        if (chance(15)) {
            builder_.pointwise();
        }
        read_some(func, num_funcs, vars);
        for (int updates = chance(35) ? 1 + below(chance(90) ? 2 : 12) : 0; updates > 0;
             updates--) {
            add_update(func, num_funcs, vars);
        }
    }

    void add_update(int func, int num_funcs, const std::vector<std::string> &vars) {
        std::vector<RVarRange> rvars;
        for (int n = below(4); n > 0; n--) {
            const int64_t extent = chance(85) ? 1 + below(40) : 1 + below(5000);
            rvars.push_back({"r" + std::to_string(rvars.size()), 0, extent - 1, chance(30)});
        }
        std::vector<Coord> lhs;
        std::vector<std::string> free;
        for (size_t d = 0; d < vars.size(); d++) {
            const int kind = below(10);
            if (kind == 0 && !rvars.empty()) {
                const auto r = static_cast<size_t>(below(static_cast<int>(rvars.size())));
                lhs.push_back(at(rvars[r].name));
                builder_.computed_includes(static_cast<int>(d), 0, rvars[r].max);
            } else if (kind == 1) {
                // One place, or one that depends on data.
                const int64_t high = chance(50) ? 5 : 255, low = chance(50) ? high : 0;
                lhs.push_back(constant(low, high));
                builder_.computed_includes(static_cast<int>(d), low, high);
            } else {
                lhs.push_back(at(vars[d]));
                free.push_back(vars[d]);
            }
        }
        for (const RVarRange &r : rvars) {
            free.push_back(r.name);
        }
        builder_.update(rvars, lhs);
        if (chance(70)) {
            if (chance(50)) {
                std::reverse(free.begin(), free.end());
            }
            read_some(func, num_funcs, free);
        }
    }

    Rng rng_;
    GraphBuilder builder_;
    std::vector<int> dims_;
};

}  // namespace

namespace {

// The pipeline at its estimated sizes.
bool fits(const PipelineGraph &graph) {
    RegionStore store(graph);
    for (const FuncNode &func : graph.funcs) {
        const FuncRegion &region = store.root()->of(func.id);
        double points = 1;
        for (int d = 0; d < func.dims(); d++) {
            points *= static_cast<double>(region.computed(d).extent());
        }
        if (points > kMaxRegion) {
            return false;
        }
        for (const StageNode &stage : func.stages) {
            double iterations = 1;
            for (size_t i = 0; i < stage.loops.size(); i++) {
                iterations *=
                    static_cast<double>(region.loop(stage.index, static_cast<int>(i)).extent());
            }
            if (iterations > kMaxIterations) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

PipelineGraph fuzz_graph(uint32_t seed) {
    Rng seeds(seed);
    while (true) {
        PipelineGraph graph = Maker(seeds.next()).make();
        if (fits(graph)) {
            return graph;
        }
    }
}

}  // namespace test
}  // namespace anderson2021
