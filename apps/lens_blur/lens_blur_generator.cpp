// Lens blur: a shallow depth of field computed from a stereo pair.
//
// Algorithm: depth from stereo and synthetic defocus as in J. T. Barron, A. Adams, Y. Shih and
// C. Hernandez, "Fast bilateral-space stereo for synthetic defocus", CVPR 2015, with a simpler
// smoothing of the costs: push and pull over a pyramid, weighted by confidence (S. J. Gortler et
// al., "The Lumigraph", SIGGRAPH 1996). The blur gathers pseudo-random samples of the surroundings
// (R. L. Cook, T. Porter and L. Carpenter, "Distributed ray tracing", SIGGRAPH 1984) whose own
// circle of confusion reaches the pixel. Costs, depths and sample positions are integers, so that
// every schedule picks the same ones. Pictures are continued by their edge pixels.
#include <string>
#include <vector>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class LensBlur : public Generator<LensBlur> {
public:
    GeneratorParam<int> pyramid_levels{"pyramid_levels", 8, 2, 12};
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};
    // Estimates of the parameters below.
    GeneratorParam<int> depths{"depths", 32, 2, 64};
    GeneratorParam<int> focus{"focus", 13, 0, 63};
    GeneratorParam<int> samples{"samples", 32, 1, 1024};

    Input<Buffer<uint8_t, 3>> left_im{"left_im"};
    Input<Buffer<uint8_t, 3>> right_im{"right_im"};
    // Number of depths told apart; depth z means a displacement of z pixels.
    Input<int> slices{"slices", 32, 2, 64};
    // Depth that stays sharp.
    Input<int> focus_depth{"focus_depth", 13, 0, 63};
    // Radius of the blur in pixels per step of depth.
    Input<float> blur_radius_scale{"blur_radius_scale", 0.5f, 0.0f, 4.0f};
    Input<int> aperture_samples{"aperture_samples", 32, 1, 1024};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        left = BoundaryConditions::repeat_edge(left_im);
        right = BoundaryConditions::repeat_edge(right_im);
        define_cost();
        smooth_cost();
        define_depth();
        define_blur();
        set_estimates();
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_lens_blur_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // Every level of the pyramid is a kernel downwards and one upwards; a thread makes
            // costs and weights together. The samples of a pixel are gathered by one thread.
            Var xi("xi"), yi("yi"), zi("zi");
            cost.compute_root().gpu_tile(x, y, z, xi, yi, zi, 32, 8, 1);
            for (Func f : {confidence, depth, worst_radius_y, worst_radius}) {
                f.compute_root().gpu_tile(x, y, xi, yi, 32, 8);
            }
            std::vector<Func> kernels(pushed.begin() + 1, pushed.end());
            kernels.insert(kernels.end(), pulled.begin() + 1, pulled.end() - 1);
            for (Func f : kernels) {
                f.compute_root()
                    .bound(c, 0, 2)
                    .reorder(c, x, y, z)
                    .unroll(c)
                    .gpu_tile(x, y, z, xi, yi, zi, 32, 8, 1);
            }
            output.reorder(c, x, y).unroll(c).gpu_tile(
                x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
            gathered.compute_at(output, xi).bound(c, 0, 4).unroll(c);
            gathered.update().reorder(c, s).unroll(c);
        } else {
            Var yi("yi");
            cost.compute_root().reorder(x, z, y).parallel(y, 8).vectorize(x, 8);
            confidence.compute_root().parallel(y, 8).vectorize(x, 8);
            for (size_t l = 0; l < pushed.size(); l++) {
                if (l > 0) {
                    pushed[l].compute_root().reorder(x, c, z, y).parallel(y).vectorize(x, 8);
                }
                if (l + 1 < pushed.size()) {
                    pulled[l].compute_root().reorder(x, c, z, y).parallel(y).vectorize(x, 8);
                }
            }
            depth.compute_root().parallel(y, 8).vectorize(x, 8);
            worst_radius_y.compute_root().parallel(y, 8).vectorize(x, 8);
            worst_radius.compute_root().parallel(y, 8).vectorize(x, 8);
            output.reorder(c, x, y).unroll(c).parallel(y, 8, TailStrategy::GuardWithIf);
            gathered.compute_at(output, x).unroll(c);
            gathered.update().reorder(c, s).unroll(c);
        }
    }

private:
    Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
    RDom s;
    Func left, right, cost{"cost"}, confidence{"confidence"}, smoothed{"smoothed"}, depth{"depth"},
        radius{"radius"}, worst_radius_y{"worst_radius_y"}, worst_radius{"worst_radius"},
        gathered{"gathered"};
    // The pyramid by level: costs times confidence (c = 0) and confidence (c = 1).
    std::vector<Func> pushed, pulled;

    static std::string numbered(const std::string &name, int l) {
        return name + "_" + std::to_string(l);
    }

    // Difference of the pictures at every depth, and how well it tells the depths apart.
    void define_cost() {
        Func difference("difference");
        difference(x, y, z, c) = cast<uint16_t>(absd(left(x, y, c), right(x + z, y, c)));
        cost(x, y, z) = difference(x, y, z, 0) + difference(x, y, z, 1) + difference(x, y, z, 2);

        RDom r(0, slices, "r");
        const Expr value = cast<int>(cost(x, y, r));
        const Expr total = sum(value, "cost_total");
        const Expr squares = sum(value * value, "cost_squares");
        const Expr variance = (squares - total / slices * total) / slices;
        // Ten bits: products with costs, and their weighted sums, fit into 32.
        confidence(x, y) = clamp(variance / 16, 0, 1022) + 1;
    }

    // Fills in the costs of smooth areas from their surroundings.
    void smooth_cost() {
        Func finest("pushed_0");
        finest(x, y, z, c) = confidence(x, y) * mux(c, {cast<int>(cost(x, y, z)), 1});
        pushed.push_back(finest);
        Expr columns = left_im.dim(0).extent(), rows = left_im.dim(1).extent();
        for (int l = 1; l < pyramid_levels; l++) {
            const Expr none;
            Func bounded = BoundaryConditions::repeat_edge(
                pushed.back(), {{0, columns}, {0, rows}, {none, none}, {none, none}});
            pushed.push_back(half_size(bounded, numbered("pushed", l)));
            columns = (columns + 1) / 2;
            rows = (rows + 1) / 2;
        }
        pulled.resize(pushed.size());
        pulled.back() = pushed.back();
        for (int l = pyramid_levels - 2; l >= 0; l--) {
            const Func coarser = double_size(pulled[size_t(l) + 1], numbered("pulled_up", l));
            Func mixed(numbered("pulled", l));
            mixed(x, y, z, c) = (pushed[size_t(l)](x, y, z, c) + coarser(x, y, z, c) + 1) >> 1;
            pulled[size_t(l)] = mixed;
        }
        smoothed(x, y, z) = (pulled[0](x, y, z, 0) << 6) / max(pulled[0](x, y, z, 1), 1);
    }

    // Every other pixel of a (1 3 3 1) / 8 blur, in both directions.
    Func half_size(const Func &f, const std::string &name) const {
        Func downx(name + "_downx"), down(name);
        const auto weighted = [](const Expr &a, const Expr &b, const Expr &c, const Expr &d) {
            return (a + 3 * (b + c) + d + 4) >> 3;
        };
        downx(x, y, z, c) = weighted(
            f(2 * x - 1, y, z, c), f(2 * x, y, z, c), f(2 * x + 1, y, z, c), f(2 * x + 2, y, z, c));
        down(x, y, z, c) = weighted(downx(x, 2 * y - 1, z, c),
                                    downx(x, 2 * y, z, c),
                                    downx(x, 2 * y + 1, z, c),
                                    downx(x, 2 * y + 2, z, c));
        return down;
    }

    // The picture twice as large, by bilinear interpolation.
    Func double_size(const Func &f, const std::string &name) const {
        Func upx(name + "_upx"), up(name);
        upx(x, y, z, c) = (f(x / 2 - 1 + 2 * (x % 2), y, z, c) + 3 * f(x / 2, y, z, c) + 2) >> 2;
        up(x, y, z, c) = (upx(x, y / 2 - 1 + 2 * (y % 2), z, c) + 3 * upx(x, y / 2, z, c) + 2) >> 2;
        return up;
    }

    // The cheapest depth, the blur there, and the widest blur in reach.
    void define_depth() {
        RDom r(0, slices, "r");
        depth(x, y) = argmin(r, smoothed(x, y, r), "cheapest")[0];
        radius(x, y) = abs(depth(x, y) - focus_depth) * blur_radius_scale;

        const Expr reach = largest_radius();
        RDom around(-reach, 2 * reach + 1, "around");
        const Expr whole = cast<int>(ceil(radius(x, y + around)));
        worst_radius_y(x, y) = maximum(whole, "worst_radius_y_maximum");
        worst_radius(x, y) = maximum(worst_radius_y(x + around, y), "worst_radius_maximum");
    }

    Expr largest_radius() const {
        const Expr steps = max(slices - 1 - focus_depth, focus_depth);
        return cast<int>(ceil(cast<float>(steps) * blur_radius_scale));
    }

    static Expr word(uint32_t value) { return Internal::make_const(UInt(32), value); }

    // Well mixed bits that depend on place and number of a sample.
    Expr random_bits() const {
        Expr h = cast<uint32_t>(x) * word(0x9E3779B1u) + cast<uint32_t>(y) * word(0x85EBCA77u) +
                 cast<uint32_t>(s) * word(0xC2B2AE3Du);
        for (uint32_t factor : {0x7FEB352Du, 0x846CA68Bu}) {
            h = (h ^ (h >> 16)) * word(factor);
        }
        return h ^ (h >> 15);
    }

    void define_blur() {
        // A sample lies anywhere in the square of the widest blur.
        s = RDom(0, aperture_samples, "s");
        const Expr reach = largest_radius(), side = 2 * worst_radius(x, y) + 1;
        const auto position = [&](const Expr &bits) {
            const Expr scaled = cast<int>((bits * cast<uint32_t>(side)) >> 16);
            return clamp(scaled - worst_radius(x, y), -reach, reach);
        };
        const Expr random = random_bits();
        const Expr dx = position(random & 0xffff), dy = position(random >> 16);

        // It counts if its blur reaches here. Something behind shines through only as far as
        // this pixel is blurred itself. Light spreads over the area of the blur.
        const Expr there = radius(x + dx, y + dy), here = radius(x, y);
        const Expr distance = cast<float>(dx * dx + dy * dy);
        const Expr is_behind = depth(x + dx, y + dy) < depth(x, y);
        const Expr limit = select(is_behind, min(here, there), there);
        const Expr counts = distance <= limit * limit;
        Func with_weight("with_weight");
        with_weight(x, y, c) =
            cast<float>(mux(c, {left(x, y, 0), left(x, y, 1), left(x, y, 2), cast<uint8_t>(1)}));
        const Expr area = max(there * there, 0.25f);
        gathered(x, y, c) = with_weight(x, y, c) / max(here * here, 0.25f);
        gathered(x, y, c) += select(counts, with_weight(x + dx, y + dy, c) / area, 0.0f);
        output(x, y, c) = gathered(x, y, c) / gathered(x, y, 3);
    }

    void set_estimates() {
        slices.set_estimate(depths);
        focus_depth.set_estimate(focus);
        blur_radius_scale.set_estimate(0.5f);
        aperture_samples.set_estimate(samples);
        for (Input<Buffer<uint8_t, 3>> *im : {&left_im, &right_im}) {
            im->dim(0).set_min(0);
            im->dim(1).set_min(0);
            im->dim(2).set_bounds(0, 3);
            im->set_estimates({{0, width}, {0, height}, {0, 3}});
        }
        output.dim(2).set_bounds(0, 3);
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(LensBlur, lens_blur)
