// Smooths a photograph but for its edges and checks the GPU variants against the CPU.
#include "bilateral_grid_auto.h"
#include "bilateral_grid_cpu.h"
#include "bilateral_grid_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("bilateral_grid", bilateral_grid_auto_metadata(), argc, argv);
    const apps::Image<uint8_t> photo = app.grey_photo(app.output_extent(0), app.output_extent(1));
    apps::Image<float> input(photo.width(), photo.height());
    input.for_each_element([&](int x, int y) { input(x, y) = float(photo(x, y)) / 255.0f; });
    const float r_sigma = float(app.estimated_scalar("r_sigma"));

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&, function](apps::Image<float> &out) { return function(input, r_sigma, out); }};
    };
    // With 256 shades no pixel lies so near to the boundary of two cells that rounding decides
    // on its cell. What is left is the order in which floats are added.
    apps::Image<float> smooth;
    const bool ok = app.compare<float>(
        variant("cpu", bilateral_grid_cpu),
        {variant("manual", bilateral_grid_manual), variant("auto", bilateral_grid_auto)},
        {1e-5, 0},
        smooth);
    app.save(apps::as_picture(input, 1), "bilateral_grid_input.png");
    app.save(apps::as_picture(smooth, 1), "bilateral_grid.png");
    return ok ? 0 : 1;
}
