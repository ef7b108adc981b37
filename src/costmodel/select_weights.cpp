// The choice among the sources of weights: parameter, environment, built-in.
//
// Whatever was asked for either works or is an error that says what to do. Weights that the user
// did not ask for would give schedules that look right and are not.
#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "costmodel/builtin_weights.h"
#include "costmodel/weights.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

namespace fs = std::filesystem;

constexpr const char *kSuffix = ".weights";
constexpr const char *kDefaultName = "baseline";

// A path together with the setting that it came from, for messages.
struct Setting {
    std::string variable;
    std::string path;

    std::string text() const { return variable + " = \"" + path + "\""; }
};

SelectedWeights
failure(const Setting &setting, const std::string &reason, const std::string &remedy) {
    return {std::nullopt,
            "Cannot load weights (" + setting.text() + "): " + reason + ". " + remedy};
}

std::string remedy_for(const Setting &setting) {
    return "Set " + setting.variable +
           " to a readable .weights file (or to a directory of such files), or unset it to use the "
           "built-in weights.";
}

SelectedWeights success(Weights weights, const std::string &origin) {
    std::ostringstream text;
    text << origin << ", checksum " << std::hex << std::setw(8) << std::setfill('0')
         << weights.checksum();
    return {std::move(weights), text.str()};
}

SelectedWeights from_file(const Setting &setting, const std::string &path) {
    WeightsOrError read = read_weights_file(path);
    if (!read.weights) {
        return failure(setting, read.error, remedy_for(setting));
    }
    return success(std::move(*read.weights), path + " (" + setting.variable + ")");
}

// The names on offer in a collection, sorted; the order of a directory scan is arbitrary.
std::string names_in(const std::string &directory) {
    std::vector<std::string> names;
    std::error_code code;
    for (fs::directory_iterator it(directory, code), end; !code && it != end; it.increment(code)) {
        if (it->path().extension() == kSuffix) {
            names.push_back(it->path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    std::string list;
    for (const std::string &name : names) {
        list += (list.empty() ? "" : ", ") + name;
    }
    return list;
}

SelectedWeights from_collection(const Setting &setting, const std::string &wanted) {
    const std::string name = wanted.empty() ? kDefaultName : wanted;
    const std::string path = (fs::path(setting.path) / (name + kSuffix)).string();
    std::error_code ignored;
    if (fs::exists(path, ignored)) {
        return from_file(setting, path);
    }
    const std::string names = names_in(setting.path);
    if (names.empty()) {
        return failure(setting, "the directory holds no .weights file", remedy_for(setting));
    }
    return failure(setting,
                   "the directory holds no " + name + kSuffix,
                   "Set autoscheduler.weights to one of: " + names + ".");
}

SelectedWeights from_path(const Setting &setting, const std::string &name) {
    std::error_code code;
    const fs::file_status status = fs::status(setting.path, code);
    if (!fs::exists(status)) {
        const std::string reason =
            status.type() == fs::file_type::not_found ? "there is no such file" : code.message();
        return failure(setting, reason, remedy_for(setting));
    }
    if (!fs::is_directory(status)) {
        if (!name.empty() && fs::path(setting.path).stem() != name) {
            return failure(setting,
                           "it is a single file, but autoscheduler.weights asks for \"" + name +
                               "\" out of a directory",
                           "Unset autoscheduler.weights, or set " + setting.variable +
                               " to a directory that holds " + name + kSuffix + ".");
        }
        return from_file(setting, setting.path);
    }
    if (!is_weights_directory(setting.path)) {
        return from_collection(setting, name);
    }
    if (!name.empty()) {
        return failure(setting,
                       "it is a single set of weights in the old directory form, but "
                       "autoscheduler.weights asks for \"" +
                           name + "\"",
                       "Unset autoscheduler.weights.");
    }
    WeightsOrError read = read_weights_directory(setting.path);
    if (!read.weights) {
        return failure(setting, read.error, remedy_for(setting));
    }
    return success(std::move(*read.weights),
                   setting.path + " (" + setting.variable + ", deprecated directory form)");
}

}  // namespace

const Weights &builtin_weights() {
    static const Weights weights = [] {
        WeightsOrError parsed =
            parse_weights(kBuiltinWeightsBytes, kBuiltinWeightsSize, "built-in weights");
        ANDERSON_CHECK(parsed.weights.has_value()) << parsed.error;
        return std::move(*parsed.weights);
    }();
    return weights;
}

SelectedWeights select_weights(const WeightsSource &source) {
    const Setting name_setting{"autoscheduler.weights", source.name};
    if (source.name.find('/') != std::string::npos) {
        return failure(name_setting,
                       "it is a name, not a path",
                       "Give the directory by autoscheduler.weights_path or HL_WEIGHTS_DIR.");
    }
    if (!source.weights_path.empty()) {
        return from_path({"autoscheduler.weights_path", source.weights_path}, source.name);
    }
    if (!source.weights_dir.empty()) {
        return from_path({"HL_WEIGHTS_DIR", source.weights_dir}, source.name);
    }
    if (!source.name.empty() && source.name != kDefaultName) {
        return failure(name_setting,
                       "there is no directory to take it from",
                       "Set autoscheduler.weights_path or HL_WEIGHTS_DIR to the directory that "
                       "holds " +
                           source.name + kSuffix + ".");
    }
    return success(builtin_weights(), "built-in weights");
}

}  // namespace anderson2021
