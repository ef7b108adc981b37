// Makes one random pipeline, step by step.
//
// Every step adds one or more Funcs that read earlier ones. Steps are in random_steps.cpp.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "Halide.h"

#include "support/rng.h"

namespace anderson2021 {

constexpr int kMaxStages = 20;

// A Func or an input: something with a value at every point.
struct Source {
    Halide::Func func;
    Halide::Type type;
    // Sizes to be asked of it; coordinates beyond are fine.
    std::vector<int> extents;
};

class RandomPipelineBuilder {
public:
    explicit RandomPipelineBuilder(uint32_t seed)
        : rng_(seed), prefix_("p" + std::to_string(seed) + "_") {}
    std::vector<Halide::Func> build();

private:
    using Coordinates = std::vector<Halide::Expr>;

    int below(int n) { return static_cast<int>(rng_.below(static_cast<uint32_t>(n))); }
    bool chance(int percent) { return below(100) < percent; }
    template<typename T>
    T one_of(std::initializer_list<T> values) {
        return *(values.begin() + below(static_cast<int>(values.size())));
    }

    int dims() const { return static_cast<int>(vars_.size()); }
    Coordinates here() const { return {vars_.begin(), vars_.end()}; }
    // `vars_` with `offset` added to dimension `axis`.
    Coordinates shifted(int axis, const Halide::Expr &offset) const;
    Halide::Expr at(const Source &source, const Coordinates &coordinates) const;
    Halide::Func new_func(const char *kind);
    Halide::Func make_input(const char *name, Halide::Type type, int num_dims);

    const Source &pick();
    Halide::Expr value_of(const Source &source) { return at(source, here()); }
    // Brings a value to the type in which the pipeline computes next.
    Halide::Expr convert(const Halide::Expr &value);
    void add(const Halide::Func &func, std::vector<int> extents);
    void define(const char *kind, const Halide::Expr &value, std::vector<int> extents);
    void step();

    void pointwise();
    void combine();
    void stencil();
    void convolution();
    void depthwise();
    void pool();
    void downsample();
    void upsample();
    void interpolation();
    void transpose();
    void reduction();
    void scan();
    void histogram();
    void table();
    void pyramid();
    void warp();
    void channel_mix();
    void heavy();
    void grid();
    void matrix_product();
    void interleave();

    Rng rng_;
    // Names that another pipeline has, too, would be changed, and orders depend on names.
    const std::string prefix_;
    std::vector<Halide::Var> vars_;
    std::vector<int> extents_;
    std::vector<Source> sources_;
    std::vector<bool> read_;
    Halide::Type compute_type_;
    int num_stages_ = 0, count_ = 0;
};

}  // namespace anderson2021
