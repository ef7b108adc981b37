// The kinds of step that random pipelines are made of.
#include <algorithm>
#include <utility>

#include "tools/with_compiler/random_builder.h"

namespace anderson2021 {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Type;
using Halide::Var;

void RandomPipelineBuilder::pointwise() {
    const Source source = pick();
    Expr a = convert(value_of(source));
    const bool is_float = a.type().is_float();
    for (int n = chance(15) ? 8 + below(40) : 1 + below(4); n > 0; n--) {
        const int kind = below(is_float ? 11 : 8);
        const Expr two = Halide::Internal::make_const(a.type(), 2);
        const Expr three = Halide::Internal::make_const(a.type(), 3);
        switch (kind) {
        case 0:
            a = a * three + two;
            break;
        case 1:
            a = select(a > three, a - two, a * two);
            break;
        case 2:
            a = clamp(a, two, Halide::Internal::make_const(a.type(), 100));
            break;
        case 3:
            a = max(a, three) - min(a, two);
            break;
        case 4:
            a = a / three;
            break;
        case 5:
            a = select(a == two || a != three, a, a + three);
            break;
        case 6:
            a = a % Halide::Internal::make_const(a.type(), 7) + a;
            break;
        case 7:
            a = select(a <= three && !(a < two), three, a * a);
            break;
        case 8:
            a = sqrt(abs(a));
            break;
        case 9:
            a = exp(a) - a;
            break;
        default:
            a = Halide::fast_pow(abs(a) + 1.0f, 0.7f);
            break;
        }
    }
    define("pointwise", a, source.extents);
}

void RandomPipelineBuilder::combine() {
    const Source first = pick(), second = pick();
    const Expr a = convert(value_of(first)), b = convert(value_of(second));
    const Expr two = Halide::Internal::make_const(a.type(), 2);
    const Expr value = one_of<Expr>(
        {a + b, a * b - a, max(a, b), select(a > b, a - b, b * two), (a + b) / two, a * two + b});
    std::vector<int> extents = first.extents;
    for (size_t d = 0; d < extents.size(); d++) {
        extents[d] = std::min(extents[d], second.extents[d]);
    }
    define("combine", value, std::move(extents));
}

void RandomPipelineBuilder::stencil() {
    const Source source = pick();
    const int axis = below(std::min(2, dims())), reach = 1 + below(4);
    const int spacing = one_of({1, 1, 1, 2, 5});
    const bool box = dims() > 1 && chance(40);
    Expr sum;
    for (int j = box ? -1 : 0; j <= (box ? 1 : 0); j++) {
        for (int k = -reach; k <= reach; k++) {
            Coordinates c = shifted(axis, k * spacing);
            if (box) {
                c[static_cast<size_t>(1 - axis)] = c[static_cast<size_t>(1 - axis)] + j;
            }
            const Expr tap = convert(at(source, c)) *
                             Halide::Internal::make_const(compute_type_, 1 + (k & 1) + below(2));
            sum = sum.defined() ? sum + tap : tap;
        }
    }
    define("stencil", sum, source.extents);
}

// Over all channels of what it reads, with a filter of its own.
void RandomPipelineBuilder::convolution() {
    if (dims() < 3) {
        return stencil();
    }
    const Source source = pick();
    const int size = one_of({1, 3, 3, 5}), channels = std::max(2, source.extents[2]);
    Func filter = make_input("filter", Halide::Float(32), 4);
    RDom r(0, size, 0, size, 0, channels);
    Func f = new_func("conv");
    if (chance(50)) {
        Func bias = make_input("bias", Halide::Float(32), 1);
        f(vars_) = bias(vars_[2]);
    } else {
        f(vars_) = 0.0f;
    }
    Coordinates c = here();
    c[0] = c[0] + r.x;
    c[1] = c[1] + r.y;
    c[2] = r.z;
    f(vars_) += filter(vars_[2], r.x, r.y, r.z) * cast<float>(at(source, c));
    std::vector<int> extents = source.extents;
    extents[2] = one_of({8, 16, 32, 64});
    add(f, extents);
    if (chance(60)) {
        define("relu", max(f(vars_), 0.0f), extents);
        read_[read_.size() - 2] = true;
    }
}

void RandomPipelineBuilder::depthwise() {
    const Source source = pick();
    const int size = one_of({3, 3, 5});
    Func filter = make_input("filter", Halide::Float(32), 2);
    RDom r(0, size, 0, dims() > 1 ? size : 1);
    Func f = new_func("depthwise");
    f(vars_) = 0.0f;
    Coordinates c = here();
    c[0] = c[0] + r.x;
    if (dims() > 1) {
        c[1] = c[1] + r.y;
    }
    f(vars_) += filter(r.x, r.y) * cast<float>(at(source, c));
    add(f, source.extents);
}

void RandomPipelineBuilder::pool() {
    const Source source = pick();
    const int size = one_of({2, 3, 4}), stride = one_of({1, 2, size});
    RDom r(0, size, 0, dims() > 1 ? size : 1);
    Func f = new_func("pool");
    const Expr first = convert(value_of(source));
    const bool is_maximum = chance(50);
    f(vars_) = is_maximum ? compute_type_.min() : Halide::Internal::make_zero(compute_type_);
    Coordinates c = here();
    c[0] = c[0] * stride + r.x;
    if (dims() > 1) {
        c[1] = c[1] * stride + r.y;
    }
    const Expr value = convert(at(source, c));
    f(vars_) = is_maximum ? max(f(vars_), value) : f(vars_) + value;
    std::vector<int> extents = source.extents;
    for (size_t d = 0; d < std::min<size_t>(2, extents.size()); d++) {
        extents[d] = std::max(8, extents[d] / stride);
    }
    add(f, std::move(extents));
}

void RandomPipelineBuilder::downsample() {
    const Source source = pick();
    const size_t axis = static_cast<size_t>(below(std::min(2, dims())));
    const int factor = one_of({2, 2, 2, 3, 4});
    Expr sum;
    for (int k = 0; k < factor; k++) {
        Coordinates c = here();
        c[axis] = c[axis] * factor + k;
        const Expr tap = convert(at(source, c));
        sum = sum.defined() ? sum + tap : tap;
    }
    std::vector<int> extents = source.extents;
    extents[axis] = std::max(8, extents[axis] / factor);
    define("down", sum / Halide::Internal::make_const(compute_type_, factor), std::move(extents));
}

void RandomPipelineBuilder::upsample() {
    const Source source = pick();
    const size_t axis = static_cast<size_t>(below(std::min(2, dims())));
    Coordinates c = here(), d = here();
    c[axis] = c[axis] / 2;
    d[axis] = (d[axis] + 1) / 2;
    const Expr a = convert(at(source, c)), b = convert(at(source, d));
    std::vector<int> extents = source.extents;
    extents[axis] = std::min(4096, extents[axis] * 2);
    define("up", chance(50) ? a : a + b, std::move(extents));
}

void RandomPipelineBuilder::interpolation() {
    if (dims() < 2) {
        return upsample();
    }
    const Source source = pick();
    const Expr fx = cast<float>(vars_[0]) * 0.37f, fy = cast<float>(vars_[1]) * 0.61f;
    const Expr x0 = cast<int>(floor(fx)), y0 = cast<int>(floor(fy));
    const auto tap = [&](int i, int j) {
        Coordinates c = here();
        c[0] = x0 + i;
        c[1] = y0 + j;
        return cast<float>(at(source, c));
    };
    const auto mix = [](const Expr &a, const Expr &b, const Expr &t) { return a + (b - a) * t; };
    const Expr value =
        mix(mix(tap(0, 0), tap(1, 0), fx - x0), mix(tap(0, 1), tap(1, 1), fx - x0), fy - y0);
    define("interpolated", value, source.extents);
}

void RandomPipelineBuilder::transpose() {
    if (dims() < 2) {
        return pointwise();
    }
    const Source source = pick();
    Coordinates c = here();
    std::swap(c[0], c[1]);
    std::vector<int> extents = source.extents;
    std::swap(extents[0], extents[1]);
    define("transposed", convert(at(source, c)), std::move(extents));
}

void RandomPipelineBuilder::reduction() {
    const Source source = pick();
    const int axis = below(dims());
    RDom r(0, one_of({4, 8, 16, 64, 256}));
    Func f = new_func("reduced");
    f(vars_) = Halide::Internal::make_zero(compute_type_);
    const Expr value = convert(at(source, shifted(axis, r.x)));
    switch (below(3)) {
    case 0:
        f(vars_) += value;
        break;
    case 1:
        f(vars_) = max(f(vars_), value);
        break;
    default:
        f(vars_) += value * value;
        break;
    }
    add(f, source.extents);
}

void RandomPipelineBuilder::scan() {
    const Source source = pick();
    const auto axis = static_cast<size_t>(below(std::min(2, dims())));
    const int extent = std::max(16, source.extents[axis]);
    Func f = new_func("scan");
    f(vars_) = convert(value_of(source));
    for (const bool forward : {true, false}) {
        if (!forward && !chance(40)) {
            break;
        }
        RDom r(1, extent - 1);
        Coordinates here_c = here(), before = here();
        const Expr position = forward ? Expr(r.x) : extent - 1 - r.x;
        here_c[axis] = position;
        before[axis] = forward ? position - 1 : position + 1;
        f(here_c) = f(here_c) + f(before) / Halide::Internal::make_const(compute_type_, 2);
    }
    add(f, source.extents);
}

void RandomPipelineBuilder::histogram() {
    const Source source = pick();
    Func h = new_func("histogram");
    Var i("i");
    h(i) = 0;
    std::vector<Halide::Range> domain;
    for (const int extent : source.extents) {
        domain.emplace_back(0, extent);
    }
    RDom r(domain);
    Coordinates c;
    for (int d = 0; d < dims(); d++) {
        c.emplace_back(r[d]);
    }
    h(clamp(cast<int>(at(source, c)), 0, 255)) += 1;
    num_stages_ += 2;
    Func looked_at = h;
    if (chance(60)) {
        Func cdf = new_func("cdf");
        cdf(i) = h(0);
        RDom s(1, 255);
        cdf(s.x) = cdf(s.x - 1) + h(s.x);
        num_stages_ += 2;
        looked_at = cdf;
    }
    const Source second = pick();
    const Expr index = clamp(cast<int>(value_of(second)), 0, 255);
    define("equalized", convert(looked_at(index)), second.extents);
}

void RandomPipelineBuilder::table() {
    const Source source = pick();
    Func f = new_func("table");
    Var i("i");
    const Expr t = cast<float>(i) / 255.0f;
    f(i) = one_of<Expr>({Halide::fast_pow(t, 0.45f) * 255.0f, t * t * 255.0f, exp(-t * 4.0f)});
    num_stages_ += 1;
    define("looked_up", convert(f(clamp(cast<int>(value_of(source)), 0, 255))), source.extents);
}

// Halve a few times and put the levels together again.
void RandomPipelineBuilder::pyramid() {
    if (dims() < 2) {
        return downsample();
    }
    const int levels = std::min(2 + below(3), (kMaxStages - num_stages_) / 2);
    std::vector<Source> chain = {pick()};
    for (int level = 0; level < levels; level++) {
        const Source &finer = chain.back();
        Expr sum;
        for (int k = 0; k < 4; k++) {
            Coordinates c = here();
            c[0] = 2 * c[0] + k % 2;
            c[1] = 2 * c[1] + k / 2;
            const Expr tap = convert(at(finer, c));
            sum = sum.defined() ? sum + tap : tap;
        }
        std::vector<int> extents = finer.extents;
        extents[0] = std::max(8, extents[0] / 2);
        extents[1] = std::max(8, extents[1] / 2);
        define("level", sum / Halide::Internal::make_const(compute_type_, 4), extents);
        read_.back() = level + 1 < levels;
        chain.push_back(sources_.back());
    }
    for (int level = levels - 1; level >= 1; level--) {
        Coordinates c = here();
        c[0] = c[0] / 2;
        c[1] = c[1] / 2;
        const Source coarse = sources_.back();
        read_.back() = true;
        define("collapsed",
               convert(at(coarse, c)) + convert(value_of(chain[static_cast<size_t>(level)])),
               chain[static_cast<size_t>(level)].extents);
    }
}

// Reads at coordinates that another Func gives.
void RandomPipelineBuilder::warp() {
    const Source source = pick(), guide = pick();
    Coordinates c = here();
    c[0] = c[0] + clamp(cast<int>(value_of(guide)), -8, 8);
    define("warped", convert(at(source, c)), source.extents);
}

void RandomPipelineBuilder::channel_mix() {
    if (dims() < 3) {
        return combine();
    }
    const Source source = pick();
    Coordinates c = here();
    Expr sum;
    for (int k = 0; k < 3; k++) {
        c[2] = k;
        const Expr tap =
            convert(at(source, c)) * Halide::Internal::make_const(compute_type_, k + 1);
        sum = sum.defined() ? sum + tap : tap;
    }
    define("mixed", sum, source.extents);
}

}  // namespace anderson2021
