// Converts weights from the deprecated form, a directory of six raw files, to a .weights file.
//
//   weightsdir_to_weightsfile <directory> <out.weights>
#include <cstdio>

#include "costmodel/weights.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s <directory> <out.weights>\n", argv[0]);
        return 1;
    }
    const auto read = anderson2021::read_weights_directory(argv[1]);
    if (!read.weights) {
        std::fprintf(stderr, "%s\n", read.error.c_str());
        return 1;
    }
    const std::string error = anderson2021::write_weights_file(*read.weights, argv[2]);
    if (!error.empty()) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return 1;
    }
    return 0;
}
