// Enhances the details of a photograph and checks the GPU variants against the CPU.
#include "local_laplacian_auto.h"
#include "local_laplacian_cpu.h"
#include "local_laplacian_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("local_laplacian", local_laplacian_auto_metadata(), argc, argv);
    const apps::Image<uint8_t> photo = app.photo(app.output_extent(0), app.output_extent(1));
    apps::Image<uint16_t> input(photo.width(), photo.height(), 3);
    input.for_each_element(
        [&](int x, int y, int c) { input(x, y, c) = uint16_t(257 * photo(x, y, c)); });
    const int levels = int(app.estimated_scalar("levels"));
    // Details twice as strong, large contrasts a little weaker.
    const float alpha = 1.0f / float(levels - 1), beta = 0.8f;

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<uint16_t>{name, [&, function](apps::Image<uint16_t> &out) {
                                           return function(input, levels, alpha, beta, out);
                                       }};
    };
    // The arithmetic is that of floats, the result one of 65536 values.
    apps::Image<uint16_t> enhanced;
    const bool ok = app.compare<uint16_t>(
        variant("cpu", local_laplacian_cpu),
        {variant("manual", local_laplacian_manual), variant("auto", local_laplacian_auto)},
        {4, 0},
        enhanced);
    app.save(apps::as_picture(enhanced, 65535), "local_laplacian.png");
    return ok ? 0 : 1;
}
