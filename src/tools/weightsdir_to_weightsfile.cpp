// Converts weights from the deprecated form, a directory of six raw files, to a .weights file.
//
//   weightsdir_to_weightsfile <directory> <out.weights>
#include "costmodel/weights.h"
#include "support/error.h"
#include "tools/tool.h"

namespace {

int run(const anderson2021::Flags &flags) {
    const auto read = anderson2021::read_weights_directory(flags.words()[0]);
    if (!read.weights) {
        throw anderson2021::UserError(read.error);
    }
    const std::string error = anderson2021::write_weights_file(*read.weights, flags.words()[1]);
    if (!error.empty()) {
        throw anderson2021::UserError(error);
    }
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {
        "weightsdir_to_weightsfile",
        "DIRECTORY OUT.weights",
        "Converts weights from the deprecated form, a directory of six raw files, to one file.",
        {},
        2,
        2};
    return anderson2021::run_tool(tool, argc, argv, run);
}
