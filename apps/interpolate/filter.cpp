// Fills the holes of a photograph and checks the GPU variants against the CPU.
#include <cstdint>

#include "interpolate_auto.h"
#include "interpolate_cpu.h"
#include "interpolate_manual.h"
#include "support/filter_app.h"

namespace {

// Large discs are transparent, and elsewhere one pixel of four. The one at (0, 0) never is.
bool is_hole(int x, int y) {
    constexpr int pitch = 384, radius = 100;
    const int dx = x % pitch - pitch / 2, dy = y % pitch - pitch / 2;
    return dx * dx + dy * dy < radius * radius || (x * 5 + y * 3) % 4 == 1;
}

}  // namespace

int main(int argc, char **argv) {
    apps::FilterApp app("interpolate", interpolate_auto_metadata(), argc, argv);
    const apps::Image<float> photo = app.photo_as_float(app.output_extent(0), app.output_extent(1));
    apps::Image<float> holed(photo.width(), photo.height(), 4),
        seen(photo.width(), photo.height(), 3);
    holed.for_each_element([&](int x, int y, int c) {
        const float alpha = is_hole(x, y) ? 0.0f : 1.0f;
        holed(x, y, c) = c < 3 ? photo(x, y, c) : alpha;
    });
    seen.for_each_element(
        [&](int x, int y, int c) { seen(x, y, c) = holed(x, y, c) * holed(x, y, 3); });

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&, function](apps::Image<float> &out) { return function(holed, out); }};
    };
    apps::Image<float> filled;
    const bool ok = app.compare<float>(
        variant("cpu", interpolate_cpu),
        {variant("manual", interpolate_manual), variant("auto", interpolate_auto)},
        {1e-5, 0},
        filled);
    app.save(apps::as_picture(seen, 1), "interpolate_input.png");
    app.save(apps::as_picture(filled, 1), "interpolate.png");
    return ok ? 0 : 1;
}
