// Blurs a photograph recursively and checks the GPU variants against the CPU.
#include "iir_blur_auto.h"
#include "iir_blur_cpu.h"
#include "iir_blur_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("iir_blur", iir_blur_auto_metadata(), argc, argv);
    apps::Image<float> photo = app.photo_as_float(app.output_extent(0), app.output_extent(1));
    // Strong enough to be seen.
    constexpr float alpha = 0.1f;

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&, function](apps::Image<float> &out) { return function(photo, alpha, out); }};
    };
    apps::Image<float> blurred;
    const bool ok =
        app.compare<float>(variant("cpu", iir_blur_cpu),
                           {variant("manual", iir_blur_manual), variant("auto", iir_blur_auto)},
                           {1e-5, 0},
                           blurred);
    app.save(apps::as_picture(blurred, 1), "iir_blur.png");
    return ok ? 0 : 1;
}
