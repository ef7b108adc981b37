#include "test_pipelines.h"

#include <cstdlib>

namespace anderson2021 {
namespace test {

namespace {

using namespace Halide;
using BoundaryConditions::repeat_edge;

ImageParam image(TestPipeline &p, int dims, std::vector<int> estimate, Type type = UInt(8)) {
    static int counter = 0;
    ImageParam in(type, dims, "input" + std::to_string(counter++));
    for (int d = 0; d < dims; d++) {
        in.dim(d).set_estimate(0, estimate[static_cast<size_t>(d)]);
    }
    p.inputs.push_back(in);
    return in;
}

Expr i32(const Expr &e) {
    return cast<int>(e);
}

/// Three stencils one after the other on a clamped image.
TestPipeline clamped_stencils() {
    TestPipeline p;
    p.estimate = {200, 150};
    ImageParam in = image(p, 2, p.estimate);
    Var x("x"), y("y");
    Func wide("wide"), a("a"), b("b"), c("c");
    wide(x, y) = i32(repeat_edge(in)(x, y));
    a(x, y) = wide(x - 1, y) + 2 * wide(x, y) + wide(x + 1, y);
    b(x, y) = a(x, y - 1) + 3 * a(x, y) + a(x, y + 2);
    c(x, y) = b(x, y) - b(x + 2, y + 1);
    p.outputs = {c};
    return p;
}

/// Stencils that need exactly the border that they read.
TestPipeline bare_stencils() {
    TestPipeline p;
    p.estimate = {130, 90};
    ImageParam in = image(p, 2, {134, 94});
    Var x("x"), y("y");
    Func a("a"), b("b"), c("c");
    a(x, y) = i32(in(x, y)) + in(x + 1, y);
    b(x, y) = a(x, y) + a(x, y + 1) * 2 + in(x + 2, y + 2);
    c(x, y) = b(x, y) + b(x + 1, y) - b(x, y + 1);
    p.outputs = {c};
    return p;
}

/// Corner detector, in integers.
TestPipeline corners() {
    TestPipeline p;
    p.estimate = {150, 160};
    ImageParam in = image(p, 3, {156, 166, 3});
    in.dim(2).set_bounds(0, 3);
    Var x("x"), y("y");
    Func gray("gray"), dx("dx"), dy("dy"), xx("xx"), yy("yy"), xy("xy");
    Func sxx("sxx"), syy("syy"), sxy("sxy"), det("det"), trace("trace"), out("out");
    gray(x, y) = (i32(in(x, y, 0)) * 3 + in(x, y, 1) * 6 + in(x, y, 2)) / 10;
    dy(x, y) = gray(x, y + 2) - gray(x, y) + 2 * (gray(x + 1, y + 2) - gray(x + 1, y)) +
               gray(x + 2, y + 2) - gray(x + 2, y);
    dx(x, y) = gray(x + 2, y) - gray(x, y) + 2 * (gray(x + 2, y + 1) - gray(x, y + 1)) +
               gray(x + 2, y + 2) - gray(x, y + 2);
    xx(x, y) = dx(x, y) * dx(x, y);
    yy(x, y) = dy(x, y) * dy(x, y);
    xy(x, y) = dx(x, y) * dy(x, y);
    const auto sum3x3 = [&](const Func &f) {
        Expr sum = 0;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                sum += f(x + i, y + j);
            }
        }
        return sum / 16;
    };
    sxx(x, y) = sum3x3(xx);
    syy(x, y) = sum3x3(yy);
    sxy(x, y) = sum3x3(xy);
    det(x, y) = sxx(x, y) / 8 * (syy(x, y) / 8) - sxy(x, y) / 8 * (sxy(x, y) / 8);
    trace(x, y) = (sxx(x, y) + syy(x, y)) / 8;
    out(x, y) = det(x, y) - trace(x, y) / 4 * (trace(x, y) / 4);
    p.outputs = {out};
    return p;
}

/// Product of matrices: a reduction over the extent of an input.
TestPipeline matrix_product() {
    TestPipeline p;
    p.estimate = {128, 64};
    ImageParam a = image(p, 2, {128, 96}), b = image(p, 2, {96, 64});
    Var x("x"), y("y");
    RDom r(0, a.dim(1).extent(), "r");
    Func prod("prod"), out("out");
    prod(x, y) = 0;
    prod(x, y) += i32(a(x, r)) * b(r, y);
    out(x, y) = prod(x, y) + 1;
    p.input_extents = [](const std::vector<int> &size) -> std::vector<std::vector<int>> {
        return {{size[0], 96}, {96, size[1]}};
    };
    p.outputs = {out};
    return p;
}

/// Histogram by scattering, its cumulative sum, and a table look-up with it.
TestPipeline equalize() {
    TestPipeline p;
    p.estimate = {96, 80};
    ImageParam in = image(p, 2, p.estimate);
    Var x("x"), y("y"), i("i");
    RDom rx(0, in.dim(0).extent(), "rx"), ry(0, in.dim(1).extent(), "ry");
    RDom ri(1, 255, "ri");
    Func rows("rows"), hist("hist"), cdf("cdf"), luma("luma"), out("out");
    rows(i, y) = 0;
    rows(i32(in(rx, y)), y) += 1;
    hist(i) = 0;
    hist(i) += rows(i, ry);
    cdf(i) = hist(0);
    cdf(ri) = cdf(ri - 1) + hist(ri);
    luma(x, y) = clamp(i32(in(x, y)) + 3, 0, 255);
    out(x, y) = cdf(luma(x, y)) + luma(x, y);
    p.input_extents = [](const std::vector<int> &size) -> std::vector<std::vector<int>> {
        return {size};
    };
    p.outputs = {out};
    return p;
}

/// Down- and upsampling.
TestPipeline pyramid() {
    TestPipeline p;
    p.estimate = {120, 100};
    ImageParam in = image(p, 2, p.estimate);
    Var x("x"), y("y");
    Func base("base"), down("down"), down2("down2"), up("up"), up2("up2"), out("out");
    base(x, y) = i32(repeat_edge(in)(x, y)) * 5;
    down(x, y) = base(2 * x, 2 * y) + base(2 * x + 1, 2 * y) + base(2 * x, 2 * y + 1) * 3;
    down2(x, y) = down(2 * x - 1, 2 * y) + down(2 * x + 1, 2 * y) + down(2 * x, 2 * y + 1);
    up(x, y) = down2(x / 2, y / 2) + down2((x + 1) / 2, y / 2);
    up2(x, y) = up(x / 2, y / 2) - up(x / 2, (y + 1) / 2) + down(x / 2, y / 2);
    out(x, y) = base(x, y) + up2(x, y);
    p.outputs = {out};
    return p;
}

/// Recursive filter down and up the columns, transposed and repeated.
TestPipeline scans() {
    TestPipeline p;
    p.estimate = {64, 48, 3};
    p.fixed_dims = {2};
    ImageParam in = image(p, 3, {48, 64, 3});
    Var x("x"), y("y"), c("c");
    const auto blur_columns = [&](const Func &f, const Expr &height, const std::string &name) {
        Func blur(name), transpose(name + "_t");
        RDom r(1, height - 1, "r_" + name);
        blur(x, y, c) = undef<int>();
        blur(x, 0, c) = f(x, 0, c);
        blur(x, r, c) = (3 * f(x, r, c) + blur(x, r - 1, c) * 5) / 8;
        blur(x, height - 1 - r, c) =
            (blur(x, height - 1 - r, c) * 3 + blur(x, height - r, c) * 5) / 8;
        transpose(x, y, c) = blur(y, x, c);
        return transpose;
    };
    Func wide("wide");
    wide(x, y, c) = i32(in(x, y, c)) * 16;
    const Func first = blur_columns(wide, in.dim(1).extent(), "down");
    const Func second = blur_columns(first, in.dim(0).extent(), "across");
    Func turned("turned");
    turned(x, y, c) = second(y, x, c);
    p.input_extents = [](const std::vector<int> &size) -> std::vector<std::vector<int>> {
        return {{size[1], size[0], size[2]}};
    };
    p.outputs = {turned};
    return p;
}

/// The distance between two accesses is a parameter.
TestPipeline parameter_offset() {
    TestPipeline p;
    p.estimate = {100, 70};
    Param<int> offset("offset"), width("width");
    offset.set_estimate(2);
    width.set_estimate(1);
    p.params = {{offset, 5}, {width, 3}};
    ImageParam in = image(p, 2, {100, 77});
    Var x("x"), y("y");
    Func a("a"), b("b"), sum("sum"), out("out");
    RDom r(0, width, "r");
    a(x, y) = i32(in(x, y)) + 1;
    b(x, y) = a(x, y) * 3 + a(x, y + offset);
    sum(x, y) = 0;
    // Not associative: the order must be kept.
    sum(x, y) = sum(x, y) * 3 + b(x, y + r);
    out(x, y) = sum(x, y) - b(x, y);
    p.outputs = {out};
    return p;
}

/// Five dimensions, some of them short, and a reduction over three.
TestPipeline convolution() {
    TestPipeline p;
    p.estimate = {16, 10, 12, 3, 2};
    p.fixed_dims = {0, 3};
    ImageParam in = image(p, 5, {8, 12, 14, 3, 2});
    ImageParam weights = image(p, 4, {16, 3, 3, 8});
    Var c("c"), x("x"), y("y"), t("t"), n("n");
    RDom r(0, 3, 0, 3, 0, 8, "r");
    Func conv("conv"), relu("relu"), bias("bias");
    bias(c) = c * 7 - 20;
    conv(c, x, y, t, n) = bias(c);
    conv(c, x, y, t, n) +=
        i32(weights(c, r.x, r.y, r.z)) * (i32(in(r.z, x + r.x, y + r.y, t, n)) - 128);
    relu(c, x, y, t, n) = max(0, conv(c, x, y, t, n));
    relu.bound(c, 0, 16).bound(t, 0, 3);
    p.outputs = {relu};
    return p;
}

/// Tuples with updates, a 0-dimensional sum, and an output that is read by the other one.
TestPipeline mixed_outputs() {
    TestPipeline p;
    p.estimate = {70, 66};
    ImageParam in = image(p, 2, {74, 66});
    Var x("x"), y("y");
    Func wide("wide"), extremes("extremes"), total("total"), first("first"), second("second");
    RDom r(-2, 5, "r"), all(0, in.dim(0).extent(), 0, in.dim(1).extent(), "all");
    wide(x, y) = i32(repeat_edge(in)(x, y)) * 2;
    extremes(x, y) = Tuple(wide(x, y), wide(x, y));
    extremes(x, y) =
        Tuple(min(extremes(x, y)[0], wide(x + r, y)), max(extremes(x, y)[1], wide(x + r, y)));
    total() = 0;
    total() += i32(in(all.x, all.y));
    first(x, y) = extremes(x, y)[1] - extremes(x, y)[0];
    second(x, y) = first(x, y) * 2 + total() / 1000 + wide(x, y);
    p.input_extents = [](const std::vector<int> &size) -> std::vector<std::vector<int>> {
        return {{size[0] + 4, size[1]}};
    };
    p.outputs = {first, second};
    return p;
}

/// Variables with the names that lowering would invent, loops reordered by the user, names that are
/// no identifiers or are taken.
TestPipeline awkward_names() {
    TestPipeline p;
    p.estimate = {90, 75};
    ImageParam in = image(p, 2, {95, 80});
    Var x("x"), xi("xi"), yi("xii"), so("xi_serial_outer");
    Func keyword("while"), pipe("pipeline"), same("same"), dollar("same$1"), target("target");
    keyword(x, xi) = i32(in(x, xi)) + 1;
    keyword.reorder(xi, x);
    pipe(xi, x) = keyword(xi, x) + keyword(xi + 1, x) * 2 + keyword(xi, x + 3);
    dollar(xi, yi) = pipe(xi, yi) - pipe(xi, yi + 2);
    same(so, xi) = dollar(so, xi) + dollar(so + 2, xi);
    same.reorder(xi, so);
    target(xi, x) = same(xi, x) * 3 - dollar(xi, x);
    p.outputs = {target};
    return p;
}

/// Updates of single rows and columns, a race-free reduction, and coordinates loaded from memory.
TestPipeline updates() {
    TestPipeline p;
    p.estimate = {80, 60};
    ImageParam in = image(p, 2, {83, 61});
    Var x("x"), y("y");
    Func index("index"), table("table"), f("f"), g("g"), out("out");
    RDom r(0, 4, "r"), s(0, 3, "s");
    index(x, y) = clamp(i32(in(x, y)) / 4, 0, 63);
    table(x) = x * x % 37;
    table(5) = 1000;
    table(r * 2 + 8) = table(r * 2 + 9) + 50;
    f(x, y) = table(index(x, y));
    f(3, y) += 7 * y;
    f(x, y) += index(x + s, y) * (s + 1);
    g(x, y) = f(x, y);
    g(x, r) = f(x, r) * 2;
    out(x, y) = g(x, y) + table(index(x, y + 1));
    p.outputs = {out};
    return p;
}

}  // namespace

std::vector<Internal::Function> TestPipeline::output_functions() const {
    std::vector<Internal::Function> functions;
    for (const Func &f : outputs) {
        functions.push_back(f.function());
    }
    return functions;
}

void TestPipeline::set_output_estimates() {
    for (Func &f : outputs) {
        Region region;
        for (const int extent : estimate) {
            region.emplace_back(0, extent);
        }
        f.set_estimates(region);
    }
}

void TestPipeline::compute_everything_at_root() {
    for (const Func &output : outputs) {
        for (auto &[name, function] : Internal::find_transitive_calls(output.function())) {
            Func(function).compute_root();
        }
    }
}

const std::vector<TestPipelineFactory> &test_pipelines() {
    static const std::vector<TestPipelineFactory> all = {
        {"clamped_stencils", clamped_stencils},
        {"bare_stencils", bare_stencils},
        {"corners", corners},
        {"matrix_product", matrix_product},
        {"equalize", equalize},
        {"pyramid", pyramid},
        {"scans", scans},
        {"parameter_offset", parameter_offset},
        {"convolution", convolution},
        {"mixed_outputs", mixed_outputs},
        {"awkward_names", awkward_names},
        {"updates", updates},
    };
    return all;
}

TestPipeline make_test_pipeline(const std::string &name) {
    for (const TestPipelineFactory &f : test_pipelines()) {
        if (f.name == name) {
            TestPipeline p = f.make();
            p.set_output_estimates();
            return p;
        }
    }
    std::abort();
}

}  // namespace test
}  // namespace anderson2021
