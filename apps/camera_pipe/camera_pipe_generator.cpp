// From the raw data of a camera's sensor to a picture.
//
// Algorithm: the processing pipeline of A. Adams et al., "The Frankencamera: an experimental
// platform for computational photography", SIGGRAPH 2010: hot pixels are suppressed, the colours
// of the Bayer mosaic are completed, corrected by a matrix for the colour temperature, mapped by a
// tone curve and sharpened. Demosaicking follows J. F. Hamilton and J. E. Adams, US patent
// 5629734, 1997: along the direction of least change, corrected by the other colour. Everything
// but matrix and curve is integer arithmetic. The mosaic begins G R / B G with 10 bits per sample;
// output pixel (0, 0) is mosaic pixel (16, 12). The picture is smaller than the mosaic by 32 x 48
// pixels, so that no border is met.
#include <array>
#include <string>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class CameraPipe : public Generator<CameraPipe> {
public:
    GeneratorParam<int> width{"width", 2560, 16, 65536};
    GeneratorParam<int> height{"height", 1920, 16, 65536};

    Input<Buffer<uint16_t, 2>> input{"input"};
    // Colour matrices for two colour temperatures: R, G, B, constant (innermost) to R, G, B.
    Input<Buffer<float, 2>> matrix_3200{"matrix_3200"};
    Input<Buffer<float, 2>> matrix_7000{"matrix_7000"};
    // Kelvin.
    Input<float> color_temp{"color_temp", 3700.0f, 1500.0f, 15000.0f};
    Input<float> gamma{"gamma", 2.0f, 1.0f, 4.0f};
    // Percent.
    Input<float> contrast{"contrast", 50.0f, 0.0f, 100.0f};
    Input<float> sharpen_strength{"sharpen_strength", 1.0f, 0.0f, 4.0f};
    // Samples that become black and white.
    Input<int> black_level{"black_level", 25, 0, 1022};
    Input<int> white_level{"white_level", 1023, 1, 1023};
    Output<Buffer<uint8_t, 3>> output{"output"};

    void generate() {
        define_denoised();
        define_planes();
        define_greens();
        define_demosaiced();
        define_corrected();
        define_curve();
        curved(x, y, c) = curve(clamp(corrected(x, y, c), 0, white));
        define_output();
        set_estimates();
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_camera_pipe_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // One kernel for the picture: the mosaic and everything derived from it of a tile and
            // its halo stay in shared memory. Matrix and curve are computed before.
            Var xi("xi"), yi("yi"), u("u"), v("v");
            matrix.compute_root().gpu_single_thread();
            curve.compute_root().gpu_tile(level, u, 32);
            output.split(x, x, xi, 32, TailStrategy::GuardWithIf)
                .split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .split(yi, yi, v, 4)
                .reorder(c, v, xi, yi, x, y)
                .unroll(c)
                .gpu_blocks(x, y)
                .gpu_threads(xi, yi);
            for (Func f : {denoised, green_at_red, green_at_blue, curved}) {
                f.compute_at(output, x)
                    .split(x, x, u, 32, TailStrategy::GuardWithIf)
                    .split(y, y, v, 8, TailStrategy::GuardWithIf)
                    .reorder(u, v, x, y)
                    .gpu_threads(u, v);
            }
            curved.bound(c, 0, 3).reorder(c, u, v, x, y).unroll(c);
        } else {
            Var yi("yi");
            matrix.compute_root();
            curve.compute_root();
            output.split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .reorder(x, c, yi, y)
                .parallel(y)
                .vectorize(x, 16, TailStrategy::GuardWithIf);
            denoised.compute_at(output, y).vectorize(x, 16, TailStrategy::GuardWithIf);
            for (Func f : {planes, green_at_red, green_at_blue, curved}) {
                f.compute_at(output, y).vectorize(x, 16);
            }
        }
    }

private:
    // Largest sample of ten bits.
    static constexpr int white = 1023;

    Var x{"x"}, y{"y"}, c{"c"}, row{"row"}, column{"column"}, level{"level"};
    Func denoised{"denoised"}, planes{"planes"}, green_at_red{"green_at_red"},
        green_at_blue{"green_at_blue"}, red, green, blue, demosaiced{"demosaiced"},
        matrix{"matrix"}, corrected{"corrected"}, curve{"curve"}, curved{"curved"};

    // The four places of a 2x2 piece of the mosaic, as channels of `planes`: green beside red, red,
    // blue, green beside blue.
    enum Place { place_gr, place_r, place_b, place_gb };

    // A sample is limited to the range of its four neighbours of the same colour.
    void define_denoised() {
        Func shifted("shifted");
        shifted(x, y) = cast<int16_t>(input(x + 16, y + 12));
        const Expr left = shifted(x - 2, y), right = shifted(x + 2, y);
        const Expr above = shifted(x, y - 2), below = shifted(x, y + 2);
        denoised(x, y) = clamp(shifted(x, y),
                               min(min(left, right), min(above, below)),
                               max(max(left, right), max(above, below)));
    }

    // The mosaic as four pictures of half its width and height.
    void define_planes() {
        planes(x, y, c) = mux(c,
                              {denoised(2 * x, 2 * y),
                               denoised(2 * x + 1, 2 * y),
                               denoised(2 * x, 2 * y + 1),
                               denoised(2 * x + 1, 2 * y + 1)});
    }

    Expr sample(Place place, int dx = 0, int dy = 0) const {
        return cast<int>(planes(x + dx, y + dy, place));
    }

    // Green where another colour was measured: the mean of two neighbours along the direction of
    // least change, plus a part of what the measured colour bends in that direction.
    Expr directed_green(const Expr &left,
                        const Expr &right,
                        const Expr &above,
                        const Expr &below,
                        Place place) const {
        const Expr bend_x = 2 * sample(place) - sample(place, -1, 0) - sample(place, 1, 0);
        const Expr bend_y = 2 * sample(place) - sample(place, 0, -1) - sample(place, 0, 1);
        const Expr change_x = abs(left - right) + abs(bend_x);
        const Expr change_y = abs(above - below) + abs(bend_y);
        const Expr along_x = (2 * (left + right) + bend_x + 2) >> 2;
        const Expr along_y = (2 * (above + below) + bend_y + 2) >> 2;
        const Expr green = select(
            change_x<change_y, along_x, change_y<change_x, along_y, (along_x + along_y + 1)>> 1);
        return cast<int16_t>(green);
    }

    void define_greens() {
        green_at_red(x, y) = directed_green(sample(place_gr),
                                            sample(place_gr, 1, 0),
                                            sample(place_gb, 0, -1),
                                            sample(place_gb),
                                            place_r);
        green_at_blue(x, y) = directed_green(sample(place_gb, -1, 0),
                                             sample(place_gb),
                                             sample(place_gr),
                                             sample(place_gr, 0, 1),
                                             place_b);
    }

    // Red or blue of a neighbour relative to its green.
    Expr offset(Place place, int dx, int dy) const {
        const Func &green = place == place_r ? green_at_red : green_at_blue;
        return sample(place, dx, dy) - cast<int>(green(x + dx, y + dy));
    }

    // Mean of two of these.
    static Expr middle(const Expr &a, const Expr &b) { return (a + b + 1) >> 1; }

    // Red where blue was measured or the other way round: along the diagonal of least change.
    // The four neighbours are those of the other colour at (left, top) ... (left + 1, top + 1).
    Expr directed_offset(Place other, int left, int top) const {
        // How much the colour changes along the diagonal from one column to the other, and the
        // mean offset along it.
        const auto change = [&](int from, int to) {
            return abs(sample(other, left + from, top) - sample(other, left + to, top + 1));
        };
        const auto mean = [&](int from, int to) {
            return middle(offset(other, left + from, top), offset(other, left + to, top + 1));
        };
        return select(change(0, 1) < change(1, 0), mean(0, 1), mean(1, 0));
    }

    // A picture of full size out of its values at the four places.
    Func interleaved(const std::string &name, const std::array<Expr, 4> &values) const {
        const auto part = [&](const std::string &place, const Expr &value) {
            Func result(name + "_at_" + place);
            result(x, y) = cast<int16_t>(value);
            return result(x / 2, y / 2);
        };
        const Expr gr = part("gr", values[place_gr]), r = part("r", values[place_r]);
        const Expr b = part("b", values[place_b]), gb = part("gb", values[place_gb]);
        Func result(name);
        result(x, y) = select(y % 2 == 0, select(x % 2 == 0, gr, r), select(x % 2 == 0, b, gb));
        return result;
    }

    void define_demosaiced() {
        const Expr green_r = cast<int>(green_at_red(x, y)),
                   green_b = cast<int>(green_at_blue(x, y));
        red =
            interleaved("red",
                        {sample(place_gr) + middle(offset(place_r, -1, 0), offset(place_r, 0, 0)),
                         sample(place_r),
                         green_b + directed_offset(place_r, -1, 0),
                         sample(place_gb) + middle(offset(place_r, 0, 0), offset(place_r, 0, 1))});
        green = interleaved("green", {sample(place_gr), green_r, green_b, sample(place_gb)});
        blue =
            interleaved("blue",
                        {sample(place_gr) + middle(offset(place_b, 0, -1), offset(place_b, 0, 0)),
                         green_r + directed_offset(place_b, 0, -1),
                         sample(place_b),
                         sample(place_gb) + middle(offset(place_b, 0, 0), offset(place_b, 1, 0))});
        demosaiced(x, y, c) = mux(c, {red(x, y), green(x, y), blue(x, y)});
    }

    // The matrices are mixed according to the reciprocal colour temperature and applied with
    // eight fractional bits.
    void define_corrected() {
        const Expr share = (1.0f / color_temp - 1.0f / 3200) / (1.0f / 7000 - 1.0f / 3200);
        const Expr mixed =
            lerp(matrix_3200(column, row), matrix_7000(column, row), clamp(share, 0.0f, 1.0f));
        matrix(column, row) = cast<int16_t>(round(mixed * 256.0f));
        Expr sum = cast<int>(matrix(3, c));
        for (int k = 0; k < 3; k++) {
            sum += cast<int>(matrix(k, c)) * cast<int>(demosaiced(x, y, k));
        }
        corrected(x, y, c) = cast<int16_t>(sum >> 8);
    }

    // Gamma and contrast: the brightness, and as far as `contrast` says a smooth S-curve of it.
    void define_curve() {
        const Expr linear = cast<float>(level - black_level) / (white_level - black_level);
        const Expr bright = pow(clamp(linear, 0.0f, 1.0f), 1.0f / gamma);
        const Expr steep = bright * bright * (3.0f - 2.0f * bright);
        const Expr mixed = lerp(bright, steep, contrast / 100.0f);
        curve(level) = cast<uint8_t>(clamp(mixed * 255.0f + 0.5f, 0.0f, 255.0f));
    }

    // Unsharp masking with a 3x3 binomial blur; the strength has five fractional bits.
    void define_output() {
        const auto weighted = [](const Expr &before, const Expr &here, const Expr &after) {
            return cast<uint16_t>(before) + 2 * cast<uint16_t>(here) + cast<uint16_t>(after);
        };
        Func sum_y("sum_y"), blurred("blurred");
        sum_y(x, y, c) = weighted(curved(x, y - 1, c), curved(x, y, c), curved(x, y + 1, c));
        blurred(x, y, c) =
            (weighted(sum_y(x - 1, y, c), sum_y(x, y, c), sum_y(x + 1, y, c)) + 8) / 16;
        const Expr strength = cast<int>(sharpen_strength * 32.0f);
        const Expr sharp = cast<int>(curved(x, y, c));
        const Expr detail = sharp - cast<int>(blurred(x, y, c));
        output(x, y, c) = saturating_cast<uint8_t>(sharp + ((detail * strength) >> 5));
    }

    void set_estimates() {
        for (Input<Buffer<float, 2>> *m : {&matrix_3200, &matrix_7000}) {
            m->dim(0).set_bounds(0, 4);
            m->dim(1).set_bounds(0, 3);
            m->set_estimates({{0, 4}, {0, 3}});
        }
        color_temp.set_estimate(3700.0f);
        gamma.set_estimate(2.0f);
        contrast.set_estimate(50.0f);
        sharpen_strength.set_estimate(1.0f);
        black_level.set_estimate(25);
        white_level.set_estimate(1023);
        output.dim(2).set_bounds(0, 3);
        input.set_estimates({{0, width + 32}, {0, height + 48}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(CameraPipe, camera_pipe)
