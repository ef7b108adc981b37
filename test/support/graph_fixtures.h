// Builds PipelineGraphs by hand, so that everything below the frontend can be tested without the
// compiler. Also the small pipelines that many tests share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "algorithm/pipeline_graph.h"

namespace anderson2021 {
namespace test {

/// One coordinate of an access: coeff * var / div + plus + [low, high] (a range stands for a whole
/// window of accesses). Without a variable it is the constant range.
struct Coord {
    std::string var;
    int64_t coeff = 1;
    int64_t div = 1;
    int64_t low = 0;
    int64_t high = 0;
    /// Another variable, or none.
    std::string plus{};
};

/// `var + [low, high]`.
inline Coord at(const std::string &var, int64_t low = 0, int64_t high = 0) {
    return {var, 1, 1, low, high};
}
inline Coord scaled(const std::string &var, int64_t coeff) {
    return {var, coeff, 1, 0, 0};
}
inline Coord divided(const std::string &var, int64_t div) {
    return {var, 1, div, 0, 0};
}
inline Coord sum(const std::string &var, const std::string &plus) {
    return {var, 1, 1, 0, 0, plus};
}
inline Coord constant(int64_t low, int64_t high) {
    return {"", 0, 1, low, high};
}

struct RVarRange {
    std::string name;
    int64_t min = 0;
    int64_t max = 0;
    /// Iterations are independent of each other.
    bool pure = false;
};

/// Funcs are added from outputs to inputs, every Func after its consumers. Calls after func() and
/// update() concern that Func and stage.
class GraphBuilder {
public:
    GraphBuilder &func(const std::string &name, const std::vector<std::string> &args);
    /// Update stage: RVars innermost, then the arguments that `lhs` leaves free.
    GraphBuilder &update(const std::vector<RVarRange> &rvars, const std::vector<Coord> &lhs);
    /// Adds `count` accesses with these coordinates. Several calls with the same producer give one
    /// edge with the union of the footprints.
    GraphBuilder &
    reads(const std::string &producer, const std::vector<Coord> &coords, int64_t count = 1);

    /// [0, extent - 1] per dimension; `bounded` as if bound() had been called instead of an
    /// estimate given.
    GraphBuilder &output(const std::vector<int64_t> &extents, bool bounded = true);
    GraphBuilder &output_region(const std::vector<Span> &region);
    GraphBuilder &input();
    GraphBuilder &wrapper();
    GraphBuilder &pointwise();
    GraphBuilder &bytes_per_point(int64_t bytes);
    /// The region computed always includes [low, high] in dimension `dim`.
    GraphBuilder &computed_includes(int dim, int64_t low, int64_t high);

    /// The finished graph. The builder is used up.
    PipelineGraph build();

private:
    struct Access {
        std::vector<Coord> coords;
        int64_t count = 1;
    };
    struct Read {
        size_t func = 0;
        size_t stage = 0;
        std::string producer;
        std::vector<Access> accesses;
    };

    FuncNode &current() { return graph_.funcs.back(); }
    Edge make_edge(const Read &read) const;

    PipelineGraph graph_;
    std::vector<Read> reads_;
};

/// out(x, y) = prod(x, y); prod(x, y) += A(x, r) * B(r, y); floats, out bounded to size x size.
/// Funcs: 0 out, 1 prod, 2 B_im, 3 A_im. Stages: 0 out, 1 prod, 2 prod.update(0), 3 B_im, 4 A_im.
PipelineGraph mat_mul_graph(int64_t size = 1024);

/// Funcs 0 h, 1 g, 2 f, one-dimensional: h(x) = g(x); g(x) = f(x-1) + f(x) + f(x+1); f has no
/// producers. h is bounded to `size`.
PipelineGraph stencil_graph(int64_t size = 1024);

/// Harris corner detection on an input of `width + 6` x `height + 6` grey-level sources:
/// 0 output, 1 trace, 2 det, 3 Syy, 4 Iyy, 5 Sxy, 6 Ixy, 7 Iy, 8 Sxx, 9 Ixx, 10 Ix, 11 gray,
/// 12 input (three channels). Estimates only, nothing is bounded.
PipelineGraph harris_graph(int64_t width = 1530, int64_t height = 2554);

/// 0 out (x), 1 hist (x, union with [0, 255]; update scatters over 256 x 256), 2 in (input).
PipelineGraph histogram_graph();

/// 0 out (x, y) = sum() * 2, 1 sum, 0-dimensional: sum() = 0; sum() += in(r), r in [0, 99], 2 in.
PipelineGraph scalar_reduction_graph();

}  // namespace test
}  // namespace anderson2021
