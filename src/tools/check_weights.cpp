// Checks weights in either form: shapes, feature versions, values that are no numbers.
//
//   check_weights <file.weights or directory> ...
//
// Prints one line for each and exits with 1 if any is not as it should be. A directory that holds
// .weights files stands for all of them.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "costmodel/weights.h"
#include "tools/tool.h"

namespace fs = std::filesystem;
using anderson2021::WeightsOrError;

namespace {

std::vector<std::string> weights_files_in(const std::string &directory) {
    std::vector<std::string> files;
    std::error_code code;
    for (const auto &entry : fs::directory_iterator(directory, code)) {
        if (entry.path().extension() == ".weights") {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool check(const std::string &path, const WeightsOrError &read) {
    if (!read.weights) {
        std::printf("%s\n", read.error.c_str());
        return false;
    }
    std::printf("%s: good, checksum %08x\n", path.c_str(), read.weights->checksum());
    return true;
}

bool check_path(const std::string &path) {
    std::error_code code;
    if (!fs::is_directory(path, code)) {
        return check(path, anderson2021::read_weights_file(path));
    }
    const std::vector<std::string> files = weights_files_in(path);
    if (anderson2021::is_weights_directory(path) || files.empty()) {
        return check(path, anderson2021::read_weights_directory(path));
    }
    bool good = true;
    for (const std::string &file : files) {
        good = check(file, anderson2021::read_weights_file(file)) && good;
    }
    return good;
}

int run(const anderson2021::Flags &flags) {
    bool good = true;
    for (const std::string &path : flags.words()) {
        good = check_path(path) && good;
    }
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {
        "check_weights",
        "FILE|DIRECTORY ...",
        "Checks weights in either form: shapes, versions of the features, values that are no "
        "numbers. "
        "Prints one line for each and exits with 1 if any is not as it should be. A directory that "
        "holds .weights files stands for all of them.",
        {},
        1};
    return anderson2021::run_tool(tool, argc, argv, run);
}
