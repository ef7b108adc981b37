// Forced into generators whose output is compared with another run's (-include).
//
// Halide orders the operands of sums and products by name, and names of temporaries end in a
// number from a counter that the search also advances. t999 and t1000 are ordered by their text.
// With counters that start at a million all names are equally long, so that their order is the
// order in which they were made, in every run.
#include "Halide.h"

namespace {

[[maybe_unused]] const bool names_are_used_up = [] {
    for (const char prefix : {'t', 'v'}) {
        for (int i = 0; i < 1000000; i++) {
            Halide::Internal::unique_name(prefix);
        }
    }
    return true;
}();

}  // namespace
