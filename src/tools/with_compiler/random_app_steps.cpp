// Steps of random pipelines that are taken from whole applications.
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

// A long expression over taps of several Funcs, as in solvers and large filters.
void RandomPipelineBuilder::heavy() {
    std::vector<Source> sources;
    for (int n = 1 + below(4); n > 0; n--) {
        sources.push_back(pick());
    }
    Expr sum;
    const int terms = one_of({6, 10, 16, 30, 60}), spread = one_of({0, 1, 1, 2, 5});
    for (int term = 0; term < terms; term++) {
        Expr product;
        for (int factor = 1 + below(3); factor > 0; factor--) {
            Coordinates c = here();
            for (size_t d = 0; d < std::min<size_t>(2, c.size()); d++) {
                const int offset = below(2 * spread + 1) - spread;
                c[d] = offset != 0 ? c[d] + offset : c[d];
            }
            const auto source = static_cast<size_t>(below(static_cast<int>(sources.size())));
            const Expr tap = convert(at(sources[source], c));
            product = product.defined() ? product * tap : tap;
        }
        const Expr constant = Halide::Internal::make_const(compute_type_, 2 + below(9));
        switch (below(7)) {
        case 0:
            product = product * constant;
            break;
        case 1:
            product = min(product, constant);
            break;
        case 2:
            product = max(product, constant);
            break;
        case 3:
            product = select(product > constant, product, product + constant);
            break;
        case 4:
            product = product / constant;
            break;
        default:
            break;
        }
        if (!sum.defined()) {
            sum = product;
        } else {
            switch (below(6)) {
            case 0:
                sum = sum - product;
                break;
            case 1:
                sum = max(sum, product);
                break;
            case 2:
                sum = min(sum, product);
                break;
            default:
                sum = sum + product;
                break;
            }
        }
    }
    define("heavy", sum, sources.front().extents);
}

// Adds values to a grid whose last dimension is the values' own size, and looks the grid up again.
void RandomPipelineBuilder::grid() {
    if (dims() < 2) {
        return histogram();
    }
    const Source source = pick();
    const int cell = one_of({2, 4, 8, 16}), bins = one_of({8, 16, 32});
    Func sums = new_func("grid");
    Var z("z");
    std::vector<Var> arguments = vars_;
    arguments.back() = z;
    // The last of the usual dimensions gives way to the bins.
    RDom r(0, cell, 0, dims() > 2 ? cell : 1);
    Coordinates from = here(), to(arguments.begin(), arguments.end());
    from[0] = from[0] * cell + r.x;
    if (dims() > 2) {
        from[1] = from[1] * cell + r.y;
    }
    from.back() = 0;
    const Expr value = cast<float>(at(source, from));
    sums(arguments) = 0.0f;
    to.back() = clamp(cast<int>(value * (1.0f / 16)), 0, bins - 1);
    sums(to) += value;
    num_stages_ += 2;
    Func blurred = new_func("blurred");
    Coordinates left(arguments.begin(), arguments.end()), right = left;
    left.back() = z - 1;
    right.back() = z + 1;
    blurred(arguments) = sums(left) + sums(arguments) * 4.0f + sums(right);
    num_stages_ += 1;
    const Source guide = pick();
    const Expr fz = clamp(cast<float>(value_of(guide)) * (1.0f / 16), 0.0f, float(bins - 2));
    Coordinates low = here(), high = here();
    low[0] = high[0] = vars_[0] / cell;
    if (dims() > 2) {
        low[1] = high[1] = vars_[1] / cell;
    }
    low.back() = cast<int>(fz);
    high.back() = low.back() + 1;
    const Expr t = fz - floor(fz);
    define("sliced", blurred(low) * (1.0f - t) + blurred(high) * t, guide.extents);
}

// Matrix product of two Funcs' first two dimensions.
void RandomPipelineBuilder::matrix_product() {
    if (dims() < 2) {
        return reduction();
    }
    const Source left = pick(), right = pick();
    RDom r(0, one_of({16, 64, 128, 512}));
    Func f = new_func("product");
    f(vars_) = Halide::Internal::make_zero(compute_type_);
    Coordinates a = here(), b = here();
    a[0] = r.x;
    b[1] = r.x;
    f(vars_) += convert(at(left, a)) * convert(at(right, b));
    std::vector<int> extents = left.extents;
    extents[0] = right.extents[0];
    add(f, std::move(extents));
}

// Takes a pattern of pixels apart, or puts it together.
void RandomPipelineBuilder::interleave() {
    const Source first = pick(), second = pick();
    const auto axis = static_cast<size_t>(below(std::min(2, dims())));
    if (chance(50)) {
        Coordinates c = here();
        c[axis] = 2 * c[axis] + below(2);
        std::vector<int> extents = first.extents;
        extents[axis] = std::max(8, extents[axis] / 2);
        return define("deinterleaved", convert(at(first, c)), std::move(extents));
    }
    Coordinates c = here();
    c[axis] = c[axis] / 2;
    const Expr a = convert(at(first, c)), b = convert(at(second, c));
    std::vector<int> extents = first.extents;
    for (size_t d = 0; d < extents.size(); d++) {
        extents[d] = std::min(extents[d], second.extents[d]);
    }
    extents[axis] = std::min(4096, extents[axis] * 2);
    define("interleaved", select(vars_[axis] % 2 == 0, a, b), std::move(extents));
}

}  // namespace anderson2021
