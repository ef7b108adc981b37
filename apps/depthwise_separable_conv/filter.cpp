// Runs the layer on random data and checks the GPU variants against the CPU.
#include "depthwise_separable_conv_auto.h"
#include "depthwise_separable_conv_cpu.h"
#include "depthwise_separable_conv_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app(
        "depthwise_separable_conv", depthwise_separable_conv_auto_metadata(), argc, argv);
    const int channels_in = app.estimated_extent("input", 0);
    const int channels_out = app.output_extent(0);
    apps::Image<float> input(
        channels_in, app.output_extent(1), app.output_extent(2), app.output_extent(3));
    apps::Image<float> depthwise(channels_in, 3, 3), pointwise(channels_out, channels_in);
    apps::Image<float> bias(channels_out);
    app.fill_random(input, 1);
    app.fill_random(depthwise, 2);
    app.fill_random(pointwise, 3);
    app.fill_random(bias, 4);

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{name, [&, function](apps::Image<float> &out) {
                                        return function(input, depthwise, pointwise, bias, out);
                                    }};
    };
    // Sums of channels_in products of sums of nine products below 1, in another order.
    apps::Image<float> layer;
    const bool ok = app.compare<float>(variant("cpu", depthwise_separable_conv_cpu),
                                       {variant("manual", depthwise_separable_conv_manual),
                                        variant("auto", depthwise_separable_conv_auto)},
                                       {1e-6 * 9 * channels_in, 0},
                                       layer);
    return ok ? 0 : 1;
}
