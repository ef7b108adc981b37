// Prints the table of options as it stands in README.md, so that the two can be compared.
#include <cstdio>

#include "plugin/options_parser.h"

int main() {
    std::fputs(anderson2021::options_table().c_str(), stdout);
    return 0;
}
