// Small generators: a correct one and some with the mistakes that users make.
#include "Halide.h"

namespace {

using namespace Halide;

// Shared by all: a sum of neighbours, with everything that the autoscheduler needs.
template<typename Self>
class Neighbours : public Generator<Self> {
public:
    GeneratorInput<Buffer<float, 2>> input{"input"};
    GeneratorOutput<Buffer<float, 2>> output{"output"};

    void generate() {
        sum(x, y) = input(x, y) + input(x + 1, y);
        output(x, y) = sum(x, y) * sum(x, y + 1);
        static_cast<Self *>(this)->finish();
    }

protected:
    Var x{"x"}, y{"y"};
    Func sum{"neighbour_sum"};

    void set_all_estimates() {
        input.set_estimates({{0, 101}, {0, 101}});
        output.set_estimates({{0, 100}, {0, 100}});
    }
};

class Correct : public Neighbours<Correct> {
public:
    void finish() { set_all_estimates(); }
};

class NoOutputEstimate : public Neighbours<NoOutputEstimate> {
public:
    void finish() { input.set_estimates({{0, 101}, {0, 101}}); }
};

class NoParameterEstimate : public Neighbours<NoParameterEstimate> {
public:
    GeneratorInput<int> taps{"taps"};

    void finish() {
        set_all_estimates();
        RDom r(0, taps, "r");
        output(x, y) += input(x + r, y);
    }
};

class AlreadyScheduled : public Neighbours<AlreadyScheduled> {
public:
    void finish() {
        set_all_estimates();
        Var xi("xi");
        sum.compute_root().split(x, x, xi, 8);
    }
};

class AlreadyVectorized : public Neighbours<AlreadyVectorized> {
public:
    void finish() {
        set_all_estimates();
        output.vectorize(x, 8);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Correct, correct)
HALIDE_REGISTER_GENERATOR(NoOutputEstimate, no_output_estimate)
HALIDE_REGISTER_GENERATOR(NoParameterEstimate, no_parameter_estimate)
HALIDE_REGISTER_GENERATOR(AlreadyScheduled, already_scheduled)
HALIDE_REGISTER_GENERATOR(AlreadyVectorized, already_vectorized)
