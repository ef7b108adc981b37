// Writes a weights file of untrained, random values: a starting point for training.
//
//   make_random_weights <seed> <out.weights>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "costmodel/weights.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s <seed> <out.weights>\n", argv[0]);
        return 1;
    }
    char *end = nullptr;
    errno = 0;
    const unsigned long long seed = strtoull(argv[1], &end, 10);
    if (argv[1][0] < '0' || argv[1][0] > '9' || *end != '\0' || errno != 0 ||
        seed > std::numeric_limits<uint32_t>::max()) {
        fprintf(stderr, "%s: the seed has to be an integer below 2^32\n", argv[1]);
        return 1;
    }
    const auto weights = anderson2021::Weights::random(static_cast<uint32_t>(seed));
    const std::string error = anderson2021::write_weights_file(weights, argv[2]);
    if (!error.empty()) {
        fprintf(stderr, "%s\n", error.c_str());
        return 1;
    }
    printf("%s: random weights of seed %llu, checksum %08x\n", argv[2], seed, weights.checksum());
    return 0;
}
