// Dilates the bright parts of a photograph and checks the GPU variants against the CPU.
#include "max_filter_auto.h"
#include "max_filter_cpu.h"
#include "max_filter_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("max_filter", max_filter_auto_metadata(), argc, argv);
    apps::Image<float> photo = app.photo_as_float(app.output_extent(0), app.output_extent(1));

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&, function](apps::Image<float> &out) { return function(photo, out); }};
    };
    // Maxima are not rounded.
    apps::Image<float> dilated;
    const bool ok =
        app.compare<float>(variant("cpu", max_filter_cpu),
                           {variant("manual", max_filter_manual), variant("auto", max_filter_auto)},
                           apps::Tolerance{},
                           dilated);
    app.save(apps::as_picture(dilated, 1), "max_filter.png");
    return ok ? 0 : 1;
}
