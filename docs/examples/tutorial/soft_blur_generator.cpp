// The pipeline of docs/tutorial.md: a blur in two steps, first along rows, then along columns.
#include "Halide.h"

#ifdef TUNED_SCHEDULE
#include TUNED_SCHEDULE  // as the autotuner names it: apply_schedule_soft_blur_auto
#endif

class SoftBlur : public Halide::Generator<SoftBlur> {
public:
    GeneratorParam<int> radius{"radius", 8};
    GeneratorParam<int> width{"width", 1536}, height{"height", 1024};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y");
        Func clamped = Halide::BoundaryConditions::repeat_edge(input);
        Func bright("bright"), rows("rows"), blurred("blurred");
        bright(x, y) = Halide::cast<float>(clamped(x, y)) / 255.0f;
        rows(x, y) = mean([&](int d) { return bright(x + d, y); });
        blurred(x, y) = mean([&](int d) { return rows(x, y + d); });
        output(x, y) = Halide::saturating_cast<uint8_t>(blurred(x, y) * 255.0f + 0.5f);
    }

    void schedule() {
        input.set_estimates({{0, width}, {0, height}});
        output.set_estimates({{0, width}, {0, height}});
#ifdef TUNED_SCHEDULE
        if (!using_autoscheduler()) {
            apply_schedule_soft_blur_auto(get_pipeline(), get_target());
        }
#endif
    }

private:
    template<typename ValueAt>
    Expr mean(const ValueAt &value_at) const {
        Expr sum = 0.0f;
        for (int d = -static_cast<int>(radius); d <= radius; d++) {
            sum += value_at(d);
        }
        return sum / static_cast<float>(2 * static_cast<int>(radius) + 1);
    }
};

HALIDE_REGISTER_GENERATOR(SoftBlur, soft_blur)
