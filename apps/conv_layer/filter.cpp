// Runs the layer on random data and checks the GPU variants against the CPU.
#include "conv_layer_auto.h"
#include "conv_layer_cpu.h"
#include "conv_layer_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("conv_layer", conv_layer_auto_metadata(), argc, argv);
    const int channels_out = app.output_extent(0);
    const int channels_in = app.estimated_extent("input", 0);
    apps::Image<float> input(
        channels_in, app.output_extent(1) + 2, app.output_extent(2) + 2, app.output_extent(3));
    apps::Image<float> filter(channels_out, 3, 3, channels_in), bias(channels_out);
    app.fill_random(input, 1);
    app.fill_random(filter, 2);
    app.fill_random(bias, 3);

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{name, [&, function](apps::Image<float> &out) {
                                        return function(input, filter, bias, out);
                                    }};
    };
    // Sums of 9 * channels_in products below 1, added up in another order.
    apps::Image<float> layer;
    const bool ok =
        app.compare<float>(variant("cpu", conv_layer_cpu),
                           {variant("manual", conv_layer_manual), variant("auto", conv_layer_auto)},
                           {1e-6 * 9 * channels_in, 0},
                           layer);
    return ok ? 0 : 1;
}
