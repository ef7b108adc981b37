// Transfers an effect from a small to a large photograph and checks the GPU against the CPU.
#include <algorithm>
#include <cmath>

#include "bgu_auto.h"
#include "bgu_cpu.h"
#include "bgu_manual.h"
#include "support/filter_app.h"

namespace {

// How much smaller the small photograph is.
constexpr int reduction = 8;

// The effect: shadows are lifted, colours become warmer, the corners darker.
float effect(float value, int channel, double from_centre) {
    constexpr float tint[3] = {1.05f, 1.0f, 0.85f};
    const double vignette = 1.0 - 0.6 * from_centre * from_centre;
    return float(std::pow(value, 0.6f) * tint[channel] * vignette);
}

}  // namespace

int main(int argc, char **argv) {
    apps::FilterApp app("bgu", bgu_auto_metadata(), argc, argv);
    // Eight fractional bits: see the remark on cells in the generator.
    const apps::Image<uint8_t> photo = app.photo(app.output_extent(0), app.output_extent(1));
    apps::Image<float> large(photo.width(), photo.height(), 3);
    large.for_each_element(
        [&](int x, int y, int c) { large(x, y, c) = float(photo(x, y, c)) / 256.0f; });

    const int width = (photo.width() + reduction - 1) / reduction;
    const int height = (photo.height() + reduction - 1) / reduction;
    apps::Image<float> small_in(width, height, 3), small_out(width, height, 3);
    small_in.for_each_element([&](int x, int y, int c) {
        small_in(x, y, c) = large(x * reduction, y * reduction, c);
        const double u = (x + 0.5) / width - 0.5, v = (y + 0.5) / height - 0.5;
        small_out(x, y, c) = effect(small_in(x, y, c), c, std::sqrt(2 * (u * u + v * v)));
    });
    const float r_sigma = float(app.estimated_scalar("r_sigma"));
    const int s_sigma = int(app.estimated_scalar("s_sigma"));

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{name, [&, function](apps::Image<float> &out) {
                                        return function(
                                            small_in, small_out, large, r_sigma, s_sigma, out);
                                    }};
    };
    // Differences of large sums are divided by each other.
    apps::Image<float> result;
    const bool ok = app.compare<float>(variant("cpu", bgu_cpu),
                                       {variant("manual", bgu_manual), variant("auto", bgu_auto)},
                                       {1e-4, 0},
                                       result);
    app.save(apps::as_picture(small_in, 1), "bgu_small_input.png");
    app.save(apps::as_picture(small_out, 1), "bgu_small_output.png");
    app.save(apps::as_picture(large, 1), "bgu_input.png");
    app.save(apps::as_picture(result, 1), "bgu.png");
    return ok ? 0 : 1;
}
