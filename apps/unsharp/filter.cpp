// Sharpens a photograph and checks the GPU variants against the CPU.
#include <algorithm>

#include "support/filter_app.h"
#include "unsharp_auto.h"
#include "unsharp_cpu.h"
#include "unsharp_manual.h"

int main(int argc, char **argv) {
    apps::FilterApp app("unsharp", unsharp_auto_metadata(), argc, argv);
    apps::Image<float> photo = app.photo_as_float(app.output_extent(0), app.output_extent(1));

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&photo, function](apps::Image<float> &out) { return function(photo, out); }};
    };
    apps::Image<float> sharp;
    const bool ok =
        app.compare<float>(variant("cpu", unsharp_cpu),
                           {variant("manual", unsharp_manual), variant("auto", unsharp_auto)},
                           {1e-5, 1e-4},
                           sharp);

    apps::Picture picture(sharp.width(), sharp.height(), 3);
    sharp.for_each_element([&](int x, int y, int c) {
        const float value = std::min(std::max(sharp(x, y, c), 0.0f), 1.0f);
        picture.at(x, y, c) = uint8_t(value * 255.0f + 0.5f);
    });
    app.save(picture, "unsharp.png");
    return ok ? 0 : 1;
}
