// Blurs a photograph many times and checks the GPU variants against the CPU.
#include "stencil_chain_auto.h"
#include "stencil_chain_cpu.h"
#include "stencil_chain_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("stencil_chain", stencil_chain_auto_metadata(), argc, argv);
    const apps::Image<uint8_t> photo = app.grey_photo(app.output_extent(0), app.output_extent(1));
    apps::Image<uint16_t> input(photo.width(), photo.height());
    input.for_each_element([&](int x, int y) { input(x, y) = photo(x, y); });

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<uint16_t>{
            name, [&, function](apps::Image<uint16_t> &out) { return function(input, out); }};
    };
    apps::Image<uint16_t> blurred;
    const bool ok = app.compare<uint16_t>(
        variant("cpu", stencil_chain_cpu),
        {variant("manual", stencil_chain_manual), variant("auto", stencil_chain_auto)},
        apps::Tolerance{},
        blurred);
    app.save(apps::as_picture(blurred, 255), "stencil_chain.png");
    return ok ? 0 : 1;
}
