#include "tools/with_compiler/random_pipeline.h"

#include <algorithm>
#include <iterator>

#include "tools/with_compiler/random_builder.h"

namespace anderson2021 {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::Type;

RandomPipelineBuilder::Coordinates RandomPipelineBuilder::shifted(int axis,
                                                                  const Expr &offset) const {
    Coordinates result = here();
    result[static_cast<size_t>(axis)] = result[static_cast<size_t>(axis)] + offset;
    return result;
}

Expr RandomPipelineBuilder::at(const Source &source, const Coordinates &coordinates) const {
    return source.func(coordinates);
}

Func RandomPipelineBuilder::new_func(const char *kind) {
    return Func(prefix_ + kind + "_" + std::to_string(count_++));
}

Func RandomPipelineBuilder::make_input(const char *name, Type type, int num_dims) {
    Halide::ImageParam image(type, num_dims, prefix_ + name + "_" + std::to_string(count_++));
    for (int d = 0; d < num_dims; d++) {
        const int extent = d < dims() ? extents_[static_cast<size_t>(d)] : 8;
        image.dim(d).set_estimate(0, 2 * extent + 64);
    }
    if (one_of({true, true, false})) {
        num_stages_++;
        return Halide::BoundaryConditions::repeat_edge(image);
    }
    return Func(image);
}

// Recent ones more often, and those that nothing reads yet before the others.
const Source &RandomPipelineBuilder::pick() {
    const int last = static_cast<int>(sources_.size()) - 1;
    int chosen = last;
    while (chosen > 0 && chance(read_[static_cast<size_t>(chosen)] ? 60 : 20)) {
        chosen--;
    }
    if (chance(8)) {
        chosen = below(last + 1);
    }
    read_[static_cast<size_t>(chosen)] = true;
    return sources_[static_cast<size_t>(chosen)];
}

Expr RandomPipelineBuilder::convert(const Expr &value) {
    if (value.type() == compute_type_) {
        return value;
    }
    return value.type().is_float() && compute_type_.is_uint()
               ? cast(compute_type_, clamp(value, 0.0f, 255.0f))
               : cast(compute_type_, value);
}

void RandomPipelineBuilder::add(const Func &func, std::vector<int> extents) {
    sources_.push_back({func, func.types()[0], std::move(extents)});
    read_.push_back(false);
    num_stages_ += 1 + func.num_update_definitions();
}

void RandomPipelineBuilder::define(const char *kind, const Expr &value, std::vector<int> extents) {
    Func f = new_func(kind);
    f(vars_) = value;
    add(f, std::move(extents));
}

void RandomPipelineBuilder::step() {
    if (chance(10)) {
        compute_type_ = one_of<Type>({Halide::Float(32),
                                      Halide::Float(32),
                                      Halide::Int(32),
                                      Halide::UInt(16),
                                      Halide::Int(16),
                                      Halide::UInt(8)});
    }
    using Step = void (RandomPipelineBuilder::*)();
    static constexpr Step kSteps[] = {
        &RandomPipelineBuilder::pointwise,   &RandomPipelineBuilder::pointwise,
        &RandomPipelineBuilder::combine,     &RandomPipelineBuilder::combine,
        &RandomPipelineBuilder::stencil,     &RandomPipelineBuilder::stencil,
        &RandomPipelineBuilder::stencil,     &RandomPipelineBuilder::convolution,
        &RandomPipelineBuilder::depthwise,   &RandomPipelineBuilder::pool,
        &RandomPipelineBuilder::downsample,  &RandomPipelineBuilder::upsample,
        &RandomPipelineBuilder::transpose,   &RandomPipelineBuilder::interpolation,
        &RandomPipelineBuilder::reduction,   &RandomPipelineBuilder::scan,
        &RandomPipelineBuilder::histogram,   &RandomPipelineBuilder::table,
        &RandomPipelineBuilder::pyramid,     &RandomPipelineBuilder::warp,
        &RandomPipelineBuilder::channel_mix, &RandomPipelineBuilder::heavy,
        &RandomPipelineBuilder::heavy,       &RandomPipelineBuilder::heavy,
        &RandomPipelineBuilder::grid,        &RandomPipelineBuilder::matrix_product,
        &RandomPipelineBuilder::interleave,  &RandomPipelineBuilder::interleave};
    (this->*kSteps[below(static_cast<int>(std::size(kSteps)))])();
}

std::vector<Func> RandomPipelineBuilder::build() {
    const int num_dims = one_of({1, 2, 2, 2, 3, 3, 3, 4});
    const char *names[] = {"x", "y", "c", "n"};
    const int budget = one_of({20'000, 400'000, 4'000'000, 16'000'000, 30'000'000});
    int volume = 1;
    for (int d = 0; d < num_dims; d++) {
        vars_.emplace_back(names[d]);
        int extent = d < 2 ? one_of({100, 128, 300, 512, 777, 1024, 1536, 2560})
                           : one_of({3, 3, 4, 8, 16, 32, 64});
        extent = std::max(d < 2 ? 16 : 3, std::min(extent, budget / volume));
        volume *= extent;
        extents_.push_back(extent);
    }
    compute_type_ = one_of<Type>({Halide::Float(32),
                                  Halide::Float(32),
                                  Halide::Float(32),
                                  Halide::UInt(8),
                                  Halide::UInt(16),
                                  Halide::Int(32)});
    for (int n = one_of({1, 1, 1, 2}); n > 0; n--) {
        const Type type = one_of<Type>({Halide::Float(32), Halide::UInt(8), Halide::UInt(16)});
        sources_.push_back({make_input("input", type, num_dims), type, extents_});
        read_.push_back(false);
    }
    const size_t first_func = sources_.size();
    // A step adds five stages at most.
    const int wanted = 2 + below(kMaxStages - 6);
    do {
        step();
    } while (num_stages_ < wanted);
    std::vector<Func> outputs;
    for (size_t i = first_func; i < sources_.size(); i++) {
        if (i + 1 == sources_.size() || (!read_[i] && outputs.size() < 2)) {
            Func output = sources_[i].func;
            for (int d = 0; d < num_dims; d++) {
                output.set_estimate(
                    vars_[static_cast<size_t>(d)], 0, sources_[i].extents[static_cast<size_t>(d)]);
            }
            outputs.push_back(output);
        }
    }
    return outputs;
}

std::vector<Func> make_random_pipeline(uint32_t seed) {
    return RandomPipelineBuilder(seed).build();
}

}  // namespace anderson2021
