// Makes a sample out of the features of a schedule and its measured run time.
//
//   featurization_to_sample <in.featurization> <seconds> <pipeline id> <schedule id> <out.sample>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "costmodel/file_bytes.h"
#include "features/feature_io.h"
#include "support/error.h"
#include "tools/tool.h"

namespace {

using anderson2021::UserError;

constexpr size_t kLargestFile = size_t{64} << 20;

int32_t parse_id(const std::string &label, const std::string &text) {
    const int64_t id = anderson2021::parse_integer(label, text);
    if (id < std::numeric_limits<int32_t>::min() || id > std::numeric_limits<int32_t>::max()) {
        throw UserError(label + " is " + text + ", but has to fit into 32 bits");
    }
    return static_cast<int32_t>(id);
}

void convert(const std::string &in,
             const std::string &runtime,
             const std::string &pipeline,
             const std::string &schedule,
             const std::string &out) {
    const double seconds = anderson2021::parse_number("The run time", runtime);
    const float milliseconds = static_cast<float>(seconds) * 1000.0f;
    if (!(milliseconds > 0) || !std::isfinite(milliseconds)) {
        throw UserError("The run time is " + runtime + " s, but has to be positive");
    }
    std::error_code code;
    const auto size = std::filesystem::file_size(in, code);
    auto content =
        anderson2021::read_file_bytes(in, code ? 0 : std::min<size_t>(size, kLargestFile));
    if (!content.error.empty()) {
        throw UserError(in + ": " + content.error);
    }
    std::string error;
    const auto records = anderson2021::read_featurization(content.bytes, error);
    if (!records || records->empty()) {
        throw UserError(in + ": " + (error.empty() ? "it is empty" : error));
    }
    anderson2021::append_f32(content.bytes, milliseconds);
    anderson2021::append_u32(content.bytes,
                             static_cast<uint32_t>(parse_id("The pipeline id", pipeline)));
    anderson2021::append_u32(content.bytes,
                             static_cast<uint32_t>(parse_id("The schedule id", schedule)));
    error = anderson2021::replace_file(out, content.bytes.data(), content.bytes.size());
    if (!error.empty()) {
        throw UserError(error);
    }
}

int run(const anderson2021::Flags &flags) {
    const std::vector<std::string> &words = flags.words();
    convert(words[0], words[1], words[2], words[3], words[4]);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {
        "featurization_to_sample",
        "IN.featurization SECONDS PIPELINE_ID SCHEDULE_ID OUT.sample",
        "Makes a sample out of the features of a schedule and its measured run time. The ids are "
        "any "
        "numbers of 32 bits: schedules of one pipeline share the first and differ in the second.",
        {},
        5,
        5};
    return anderson2021::run_tool(tool, argc, argv, run);
}
