// Writes a weights file of untrained, random values: a starting point for training.
//
//   make_random_weights <seed> <out.weights>
#include <cstdio>
#include <limits>
#include <string>

#include "costmodel/weights.h"
#include "support/error.h"
#include "tools/tool.h"

namespace {

int run(const anderson2021::Flags &flags) {
    const std::string &text = flags.words()[0], &path = flags.words()[1];
    const int64_t seed = anderson2021::parse_integer("The seed", text);
    if (seed < 0 || seed > std::numeric_limits<uint32_t>::max()) {
        throw anderson2021::UserError("The seed is " + text + ", but has to be below 2^32");
    }
    const auto weights = anderson2021::Weights::random(static_cast<uint32_t>(seed));
    const std::string error = anderson2021::write_weights_file(weights, path);
    if (!error.empty()) {
        throw anderson2021::UserError(error);
    }
    std::printf("%s: random weights of seed %lld, checksum %08x\n",
                path.c_str(),
                static_cast<long long>(seed),
                weights.checksum());
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {"make_random_weights",
                                         "SEED OUT.weights",
                                         "Writes weights of random values, to start training with. "
                                         "The seed is a number from 0 to 2^32 - 1.",
                                         {},
                                         2,
                                         2};
    return anderson2021::run_tool(tool, argc, argv, run);
}
