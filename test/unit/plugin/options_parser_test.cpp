#include <gtest/gtest.h>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "plugin/options_parser.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using Parameters = std::map<std::string, std::string>;

Environment environment_of(Parameters variables) {
    return [variables](const std::string &name) -> std::optional<std::string> {
        const auto it = variables.find(name);
        return it == variables.end() ? std::nullopt : std::optional<std::string>(it->second);
    };
}

Options parse(const Parameters &parameters, const Parameters &variables = {}) {
    return parse_options(parameters, environment_of(variables));
}

std::string error_of(const Parameters &parameters, const Parameters &variables = {}) {
    try {
        parse(parameters, variables);
    } catch (const UserError &e) {
        return e.what();
    }
    return "";
}

void expect_mentions(const std::string &text, const std::vector<std::string> &words) {
    for (const std::string &word : words) {
        EXPECT_NE(text.find(word), std::string::npos) << "\"" << word << "\" in: " << text;
    }
}

TEST(OptionsParser, DefaultsAreThoseOfTheKnownPlugin) {
    const Options o = parse({});
    EXPECT_EQ(o.parallelism, 16);
    EXPECT_EQ(o.beam_size, 32);
    EXPECT_EQ(o.random_dropout, 100);
    EXPECT_EQ(o.random_dropout_seed, 0);
    EXPECT_EQ(o.weights_path, "");
    EXPECT_EQ(o.search_space_options, "1111");
    EXPECT_EQ(o.num_passes, 0);
    EXPECT_EQ(o.stack_factor, static_cast<double>(0.95f));
    EXPECT_EQ(o.shared_memory_limit_kb, 48);
    EXPECT_EQ(o.shared_memory_sm_limit_kb, 96);
    EXPECT_EQ(o.active_block_limit, 32);
    EXPECT_EQ(o.active_warp_limit, 64);
    EXPECT_EQ(o.reference_features, 0);
}

TEST(OptionsParser, ReadsValues) {
    const Options o = parse({{"parallelism", " 80"},
                             {"random_dropout_seed", "-7"},
                             {"stack_factor", "0.5"},
                             {"weights_path", "/some where/x.weights"}});
    EXPECT_EQ(o.parallelism, 80);
    EXPECT_EQ(o.random_dropout_seed, -7);
    EXPECT_EQ(o.stack_factor, 0.5);
    EXPECT_EQ(o.weights_path, "/some where/x.weights");
}

TEST(OptionsParser, UnknownOptionListsTheValidOnes) {
    expect_mentions(error_of({{"beam_sise", "3"}}),
                    {"autoscheduler.beam_sise", "beam_size", "active_warp_limit"});
}

TEST(OptionsParser, RejectsEveryMalformedInteger) {
    for (const char *bad : {"", "x", "3x", "3.5", "3 ", "99999999999999999999", "0x10"}) {
        expect_mentions(error_of({{"beam_size", bad}}), {"autoscheduler.beam_size", bad, "1"});
    }
}

TEST(OptionsParser, RejectsValuesOutOfRange) {
    for (const auto &bad : Parameters{{"parallelism", "0"},
                                      {"beam_size", "0"},
                                      {"num_passes", "-1"},
                                      {"random_dropout", "-1"},
                                      {"stack_factor", "1.5"},
                                      {"shared_memory_limit_kb", "0"},
                                      {"active_block_limit", "0"},
                                      {"active_warp_limit", "-3"},
                                      {"threads", "-1"}}) {
        expect_mentions(error_of({bad}), {"autoscheduler." + bad.first, bad.second});
    }
}

TEST(OptionsParser, RejectsEmptyStrings) {
    expect_mentions(error_of({{"weights_path", ""}}), {"autoscheduler.weights_path", "empty"});
}

TEST(OptionsParser, EnvironmentSuppliesDefaultsBelowOptions) {
    EXPECT_EQ(parse({}, {{"HL_BEAM_SIZE", "4"}}).beam_size, 4);
    EXPECT_EQ(parse({{"beam_size", "5"}}, {{"HL_BEAM_SIZE", "4"}}).beam_size, 5);
    EXPECT_EQ(parse({}, {{"HL_BEAM_SIZE", ""}}).beam_size, 32);
    expect_mentions(error_of({}, {{"HL_BEAM_SIZE", "many"}}), {"HL_BEAM_SIZE", "many"});
}

TEST(OptionsParser, SearchSpaceIsReadFromTheRight) {
    const Options thread = parse({{"search_space_options", "1000"}});
    EXPECT_TRUE(thread.allow_compute_at_thread());
    EXPECT_TRUE(thread.allow_compute_root());  // implied
    EXPECT_FALSE(thread.allow_inline());
    EXPECT_FALSE(thread.allow_compute_at_block());

    const Options inline_only = parse({{"search_space_options", "10"}});
    EXPECT_TRUE(inline_only.allow_inline());
    EXPECT_FALSE(inline_only.allow_compute_root());

    const Options none = parse({{"search_space_options", "0000"}});
    EXPECT_FALSE(none.allow_compute_root() || none.allow_inline());
    expect_mentions(error_of({{"search_space_options", "11x1"}}), {"search_space_options", "11x1"});
    // Only the first four characters count.
    EXPECT_TRUE(parse({{"search_space_options", "0001xyz"}}).allow_compute_root());
}

TEST(OptionsParser, DeviceTakesItsLimitsFromTheOptions) {
    const GpuDevice d = device_from_options(parse(
        {{"parallelism", "80"}, {"shared_memory_limit_kb", "64"}, {"active_warp_limit", "48"}}));
    EXPECT_EQ(d.num_sms, 80);
    EXPECT_EQ(d.shared_bytes_per_block, 65536);
    EXPECT_EQ(d.max_warps_per_sm, 48);
}

TEST(OptionsParser, GpuSuppliesDefaults) {
    for (const std::string &name : gpu_device_names()) {
        const GpuDevice row = *find_gpu_device(name);
        const Options o = parse({{"gpu", name}});
        EXPECT_EQ(o.parallelism, row.num_sms) << name;
        const GpuDevice d = device_from_options(o);
        EXPECT_EQ(d.name, name);
        EXPECT_EQ(d.num_sms, row.num_sms) << name;
        EXPECT_EQ(d.shared_bytes_per_block, row.shared_bytes_per_block) << name;
        EXPECT_EQ(d.shared_bytes_per_sm, row.shared_bytes_per_sm) << name;
        EXPECT_EQ(d.max_blocks_per_sm, row.max_blocks_per_sm) << name;
        EXPECT_EQ(d.max_warps_per_sm, row.max_warps_per_sm) << name;
        EXPECT_EQ(d.max_threads_per_block, row.max_threads_per_block) << name;
    }
}

TEST(OptionsParser, NumbersOverrideTheGpu) {
    const Options o = parse({{"gpu", "t4"},
                             {"parallelism", "7"},
                             {"shared_memory_limit_kb", "20"},
                             {"shared_memory_sm_limit_kb", "50"},
                             {"active_block_limit", "3"}},
                            {{"HL_ACTIVE_WARP_LIMIT", "9"}});
    const GpuDevice d = device_from_options(o);
    EXPECT_EQ(d.num_sms, 7);
    EXPECT_EQ(d.shared_bytes_per_block, 20 * 1024);
    EXPECT_EQ(d.shared_bytes_per_sm, 50 * 1024);
    EXPECT_EQ(d.max_blocks_per_sm, 3);
    EXPECT_EQ(d.max_warps_per_sm, 9);
    EXPECT_EQ(d.compute_capability, 75);
}

TEST(OptionsParser, UnknownGpuListsTheKnownOnes) {
    for (const char *bad : {"V100", "rtx", "v100 ", "80"}) {
        expect_mentions(error_of({{"gpu", bad}}), {"autoscheduler.gpu", bad, "v100", "rtx5090"});
    }
    expect_mentions(error_of({{"gpu", ""}}), {"autoscheduler.gpu", "empty"});
}

TEST(OptionsParser, CapabilityOfTheTargetGivesLimitsButNoSize) {
    const auto parse_for = [](int capability, const Parameters &parameters) {
        return parse_options(parameters, environment_of({}), capability);
    };
    const Options turing = parse_for(75, {});
    EXPECT_EQ(turing.parallelism, 16);
    EXPECT_EQ(turing.active_warp_limit, 32);
    EXPECT_EQ(turing.active_block_limit, 16);
    EXPECT_EQ(turing.shared_memory_sm_limit_kb, 64);
    EXPECT_EQ(turing.shared_memory_limit_kb, 48);
    EXPECT_EQ(parse_for(75, {{"active_warp_limit", "64"}}).active_warp_limit, 64);
    EXPECT_EQ(parse_for(75, {{"gpu", "a100"}}).active_warp_limit, 64);
    // No CUDA, a lower bound without a known GPU, and the V100 itself: as ever.
    for (const int capability : {-1, 20, 30, 61, 70}) {
        EXPECT_EQ(describe_options(parse_for(capability, {})), describe_options(parse({})));
    }
}

// One bad value of every kind for every option of the table, and for every variable.
TEST(OptionsParser, EveryOptionRejectsEveryKindOfBadValue) {
    struct Row {
        std::string name, variable;
        bool is_string, is_integer;
        double min, max;
    };
    std::vector<Row> rows;
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    rows.push_back({#name,                                                                         \
                    environment,                                                                   \
                    std::is_same<type, std::string>::value,                                        \
                    std::is_integral<type>::value,                                                 \
                    static_cast<double>(min),                                                      \
                    static_cast<double>(max)});
#include "support/options.def"
#undef ANDERSON_OPTION
    ASSERT_GT(rows.size(), 20u);
    for (const Row &row : rows) {
        const std::string option = "autoscheduler." + row.name;
        expect_mentions(error_of({{row.name, ""}}), {option});
        if (row.is_string) {
            continue;
        }
        std::vector<std::string> bad = {
            "many", "1x", "1 ", "--1", "0x1", "1e999", "nan", "inf", "-inf", "1,5", "\n"};
        bad.push_back("99999999999999999999999999");
        bad.push_back("-99999999999999999999999999");
        if (row.is_integer) {
            bad.push_back("1.5");
            bad.push_back("1e3");
        }
        if (row.min > -1e15) {
            bad.push_back(std::to_string(static_cast<int64_t>(row.min) - 1));
            bad.push_back(std::to_string(static_cast<int64_t>(row.max) + 1));
        }
        for (const std::string &value : bad) {
            expect_mentions(error_of({{row.name, value}}), {option, "must be", "from"});
            if (!row.variable.empty()) {
                expect_mentions(error_of({}, {{row.variable, value}}), {row.variable, "must be"});
            }
        }
    }
}

TEST(OptionsParser, DescriptionNamesEveryOptionOnce) {
    const std::string text = describe_options(parse({{"parallelism", "80"}}));
    expect_mentions(text,
                    {"Anderson2021Params.parallelism:80\n",
                     "Anderson2021Params.search_space_options:1111\n",
                     "Anderson2021Params.active_warp_limit:64\n"});
}

}  // namespace
}  // namespace anderson2021
