// Multiplies two random matrices and checks the GPU variants against the CPU.
#include "mat_mul_auto.h"
#include "mat_mul_cpu.h"
#include "mat_mul_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("cuda_mat_mul", mat_mul_auto_metadata(), argc, argv);
    const int inner = app.estimated_extent("B", 0);
    apps::Image<float> a(app.output_extent(0), inner), b(inner, app.output_extent(1));
    app.fill_random(a, 1);
    app.fill_random(b, 2);

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&a, &b, function](apps::Image<float> &out) { return function(a, b, out); }};
    };
    // Sums of `inner` products below 1, added up in another order.
    apps::Image<float> product;
    const bool ok =
        app.compare<float>(variant("cpu", mat_mul_cpu),
                           {variant("manual", mat_mul_manual), variant("auto", mat_mul_auto)},
                           {1e-6 * inner, 0},
                           product);
    return ok ? 0 : 1;
}
