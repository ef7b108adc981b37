// Blurs what is out of focus in a stereo pair and checks the GPU variants against the CPU.
#include <algorithm>

#include "lens_blur_auto.h"
#include "lens_blur_cpu.h"
#include "lens_blur_manual.h"
#include "support/filter_app.h"

namespace {

// A made-up scene: a far background, a large disc in focus, a near stripe at the bottom.
int depth_at(int x, int y, int width, int height, int slices, int focus) {
    const double u = double(x) / width - 0.5, v = double(y) / height - 0.4;
    if (y > height * 4 / 5) {
        return std::min(slices - 1, focus + 10);
    }
    return u * u + v * v < 0.1 ? focus : std::min(3, focus);
}

// What the right eye sees of it: nearer things are displaced further and hide others.
apps::Image<uint8_t> seen_from_the_right(const apps::Image<uint8_t> &left, int slices, int focus) {
    const int width = left.width(), height = left.height();
    apps::Image<uint8_t> right(width, height, 3);
    right.for_each_element([&](int x, int y, int c) {
        right(x, y, c) = left(std::max(x - std::min(3, focus), 0), y, c);
    });
    for (int z = 0; z < slices; z++) {
        left.for_each_element([&](int x, int y, int c) {
            if (depth_at(x, y, width, height, slices, focus) == z && x + z < width) {
                right(x + z, y, c) = left(x, y, c);
            }
        });
    }
    return right;
}

}  // namespace

int main(int argc, char **argv) {
    apps::FilterApp app("lens_blur", lens_blur_auto_metadata(), argc, argv);
    const int slices = int(app.estimated_scalar("slices"));
    const int focus_depth = int(app.estimated_scalar("focus_depth"));
    const float blur_radius_scale = float(app.estimated_scalar("blur_radius_scale"));
    const int aperture_samples = int(app.estimated_scalar("aperture_samples"));
    apps::Image<uint8_t> left = app.photo(app.output_extent(0), app.output_extent(1));
    apps::Image<uint8_t> right = seen_from_the_right(left, slices, focus_depth);

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&, function](apps::Image<float> &out) {
                return function(
                    left, right, slices, focus_depth, blur_radius_scale, aperture_samples, out);
            }};
    };
    // Which samples count is decided by integers; weights and sums are floats up to 255.
    apps::Image<float> blurred;
    const bool ok =
        app.compare<float>(variant("cpu", lens_blur_cpu),
                           {variant("manual", lens_blur_manual), variant("auto", lens_blur_auto)},
                           {2e-3, 0},
                           blurred);
    app.save(apps::as_picture(left, 255), "lens_blur_left.png");
    app.save(apps::as_picture(right, 255), "lens_blur_right.png");
    app.save(apps::as_picture(blurred, 255), "lens_blur.png");
    return ok ? 0 : 1;
}
