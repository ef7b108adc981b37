// A blur without a schedule: what a project that uses the package brings itself.
#include "Halide.h"

namespace {

class Blur : public Halide::Generator<Blur> {
public:
    Input<Buffer<uint16_t, 2>> input{"input"};
    Output<Buffer<uint16_t, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y");
        Func clamped = Halide::BoundaryConditions::repeat_edge(input);
        Func rows("rows");
        rows(x, y) = (clamped(x - 1, y) + clamped(x, y) + clamped(x + 1, y)) / 3;
        output(x, y) = (rows(x, y - 1) + rows(x, y) + rows(x, y + 1)) / 3;
    }

    void schedule() {
        // Sizes to expect; the autoscheduler does the rest.
        input.set_estimates({{0, 1536}, {0, 1024}});
        output.set_estimates({{0, 1536}, {0, 1024}});
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Blur, blur)
