// Prints the table of options as it stands in docs/options.md, or with the argument `gpus` the
// table of GPUs of docs/gpus.md, so that they can be compared.
#include <cstdio>
#include <cstring>

#include "plugin/options_parser.h"

int main(int argc, char **argv) {
    const bool gpus = argc == 2 && std::strcmp(argv[1], "gpus") == 0;
    std::fputs((gpus ? anderson2021::gpus_table() : anderson2021::options_table()).c_str(), stdout);
    return 0;
}
