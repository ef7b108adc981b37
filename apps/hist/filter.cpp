// Equalises the histogram of a photograph and checks the GPU variants against the CPU.
#include "hist_auto.h"
#include "hist_cpu.h"
#include "hist_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("hist", hist_auto_metadata(), argc, argv);
    apps::Image<uint8_t> photo = app.photo(app.output_extent(0), app.output_extent(1));

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<uint8_t>{
            name, [&photo, function](apps::Image<uint8_t> &out) { return function(photo, out); }};
    };
    apps::Image<uint8_t> equalized;
    const bool ok =
        app.compare<uint8_t>(variant("cpu", hist_cpu),
                             {variant("manual", hist_manual), variant("auto", hist_auto)},
                             apps::Tolerance{},
                             equalized);

    apps::Picture picture(equalized.width(), equalized.height(), 3);
    equalized.for_each_element(
        [&](int x, int y, int c) { picture.at(x, y, c) = equalized(x, y, c); });
    app.save(picture, "hist.png");
    return ok ? 0 : 1;
}
