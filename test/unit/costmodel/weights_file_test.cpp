// The two file forms: what is written, what is refused, and why.
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>

#include "costmodel/file_bytes.h"
#include "costmodel/weights.h"
#include "synthetic.h"

namespace anderson2021 {
namespace {

using test::TemporaryDirectory;
using testing::Test;

// Offsets in the file form.
constexpr size_t kVersionPipeline = 4, kVersionSchedule = 8, kCount = 12;
constexpr size_t kHead1FilterHeader = 16, kHead1FilterData = 32;
constexpr size_t kHead2BiasData = 16060, kConv1FilterHeader = 16156;
constexpr size_t kFileSize = 20400;

std::vector<uint8_t> good_bytes() {
    return serialize_weights(test::drawn_weights());
}

void set_u32(std::vector<uint8_t> &bytes, size_t offset, uint32_t value) {
    std::vector<uint8_t> encoded;
    append_u32(encoded, value);
    std::copy(encoded.begin(), encoded.end(), bytes.begin() + static_cast<ptrdiff_t>(offset));
}

std::string refusal(const std::vector<uint8_t> &bytes) {
    const WeightsOrError parsed = parse_weights(bytes.data(), bytes.size(), "some.weights");
    EXPECT_FALSE(parsed.weights.has_value());
    EXPECT_EQ(parsed.error.rfind("some.weights: ", 0), 0u) << parsed.error;
    return parsed.error;
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(contains(text, part)) << (text)

TEST(WeightsFile, HasTheDocumentedLayout) {
    const std::vector<uint8_t> bytes = good_bytes();
    ASSERT_EQ(bytes.size(), kFileSize);
    const std::vector<uint8_t> start(bytes.begin(), bytes.begin() + 4);
    EXPECT_EQ(start, (std::vector<uint8_t>{0x31, 0x66, 0x77, 0x68}));
    EXPECT_EQ(load_u32(&bytes[kVersionPipeline]), 3u);
    EXPECT_EQ(load_u32(&bytes[kVersionSchedule]), 3u);
    EXPECT_EQ(load_u32(&bytes[kCount]), 6u);
    EXPECT_EQ(load_u32(&bytes[kHead1FilterHeader]), 3u);
    EXPECT_EQ(load_u32(&bytes[kHead1FilterHeader + 4]), 8u);
    EXPECT_EQ(load_u32(&bytes[kConv1FilterHeader]), 2u);
    const Weights weights = test::drawn_weights();
    EXPECT_EQ(load_f32(&bytes[kHead1FilterData]), weights.head1_filter[0]);
    EXPECT_EQ(load_f32(&bytes[kHead2BiasData]), weights.head2_bias[0]);
    EXPECT_EQ(load_f32(&bytes[kFileSize - 4]), weights.conv1_bias[31]);
}

TEST(WeightsFile, RoundTripKeepsEveryByte) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("a.weights");
    ASSERT_EQ(write_weights_file(test::drawn_weights(), path), "");
    EXPECT_EQ(test::file_content(path), good_bytes());
    const WeightsOrError read = read_weights_file(path);
    ASSERT_TRUE(read.weights.has_value()) << read.error;
    EXPECT_EQ(serialize_weights(*read.weights), good_bytes());
}

TEST(WeightsFile, EveryTruncationIsRefused) {
    for (const size_t size : {size_t{0},
                              size_t{3},
                              size_t{4},
                              size_t{15},
                              size_t{16},
                              size_t{31},
                              size_t{32},
                              size_t{5000},
                              kFileSize - 4,
                              kFileSize - 1}) {
        std::vector<uint8_t> bytes = good_bytes();
        bytes.resize(size);
        EXPECT_CONTAINS(refusal(bytes), "truncated at byte " + std::to_string(size));
    }
}

TEST(WeightsFile, SurplusBytesAreRefused) {
    std::vector<uint8_t> bytes = good_bytes();
    bytes.push_back(0);
    EXPECT_CONTAINS(refusal(bytes), "1 surplus bytes");
}

TEST(WeightsFile, ForeignFilesAreRefused) {
    std::vector<uint8_t> bytes = good_bytes();
    set_u32(bytes, 0, 0x464c457f);
    EXPECT_CONTAINS(refusal(bytes), "not a weights file");
    EXPECT_CONTAINS(refusal(bytes), "0x464c457f");
}

TEST(WeightsFile, OtherVersionsAreRefusedNamingBothNumbers) {
    std::vector<uint8_t> bytes = good_bytes();
    set_u32(bytes, kVersionPipeline, 2);
    EXPECT_CONTAINS(refusal(bytes), "version 2 of the pipeline features");
    EXPECT_CONTAINS(refusal(bytes), "version 3");
    bytes = good_bytes();
    set_u32(bytes, kVersionSchedule, 17);
    EXPECT_CONTAINS(refusal(bytes), "version 17 of the schedule features");
    EXPECT_CONTAINS(refusal(bytes), "version 3");
}

TEST(WeightsFile, OtherShapesAreRefused) {
    std::vector<uint8_t> bytes = good_bytes();
    set_u32(bytes, kCount, 5);
    EXPECT_CONTAINS(refusal(bytes), "5 buffers instead of 6");
    bytes = good_bytes();
    set_u32(bytes, kHead1FilterHeader, 2);
    EXPECT_CONTAINS(refusal(bytes), "head1_filter has 2 dimensions instead of 3");
    bytes = good_bytes();
    set_u32(bytes, kConv1FilterHeader + 8, 33);
    EXPECT_CONTAINS(refusal(bytes), "extent 1 of conv1_filter is 33 instead of 32");
}

TEST(WeightsFile, ValuesThatAreNotFiniteAreRefusedNamingTheBuffer) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
        Weights weights = test::drawn_weights();
        weights.head2_bias[5] = bad;
        EXPECT_CONTAINS(refusal(serialize_weights(weights)), "element 5 of head2_bias");
    }
}

TEST(WeightsFile, UnreadablePathsAreReported) {
    const TemporaryDirectory directory;
    const WeightsOrError missing = read_weights_file(directory.file("none.weights"));
    EXPECT_FALSE(missing.weights.has_value());
    EXPECT_CONTAINS(missing.error, "none.weights");
    EXPECT_CONTAINS(missing.error, "No such file");
    EXPECT_CONTAINS(read_weights_file(directory.path()).error, "directory");
}

TEST(WeightsFile, AFailedWriteLeavesTheOldFileAndNothingElse) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("a.weights");
    ASSERT_EQ(write_weights_file(test::drawn_weights(), path), "");
    // A directory in the way of the rename.
    const std::string blocked = directory.file("blocked");
    std::filesystem::create_directories(blocked + "/inside");
    EXPECT_CONTAINS(write_weights_file(Weights(), blocked), "cannot rename");
    EXPECT_CONTAINS(write_weights_file(Weights(), directory.file("no/such/dir.weights")),
                    "cannot create");
    EXPECT_EQ(test::file_content(path), good_bytes());
    size_t entries = 0;
    for (const auto &entry : std::filesystem::directory_iterator(directory.path())) {
        (void)entry;
        entries++;
    }
    EXPECT_EQ(entries, 2u);
}

TEST(WeightsDirectory, RoundTripEqualsTheFileForm) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("old");
    EXPECT_FALSE(is_weights_directory(path));
    ASSERT_EQ(write_weights_directory(test::drawn_weights(), path), "");
    EXPECT_TRUE(is_weights_directory(path));
    EXPECT_EQ(std::filesystem::file_size(path + "/head1_conv1_weight.data"), 8960u);
    EXPECT_EQ(std::filesystem::file_size(path + "/head1_conv1_bias.data"), 32u);
    EXPECT_EQ(std::filesystem::file_size(path + "/head2_conv1_weight.data"), 7008u);
    EXPECT_EQ(std::filesystem::file_size(path + "/head2_conv1_bias.data"), 96u);
    EXPECT_EQ(std::filesystem::file_size(path + "/trunk_conv1_weight.data"), 4096u);
    EXPECT_EQ(std::filesystem::file_size(path + "/trunk_conv1_bias.data"), 128u);
    const WeightsOrError read = read_weights_directory(path);
    ASSERT_TRUE(read.weights.has_value()) << read.error;
    EXPECT_EQ(serialize_weights(*read.weights), good_bytes());
}

TEST(WeightsDirectory, BrokenFilesAreRefusedByName) {
    const TemporaryDirectory directory;
    ASSERT_EQ(write_weights_directory(test::drawn_weights(), directory.path()), "");
    const std::string bias = directory.file("head2_conv1_bias.data");
    const std::vector<uint8_t> good = test::file_content(bias);

    std::vector<uint8_t> bytes = good;
    bytes.pop_back();
    test::put_file(bias, bytes);
    EXPECT_CONTAINS(read_weights_directory(directory.path()).error,
                    "head2_conv1_bias.data: it has 95 bytes instead of the 96 of head2_bias");
    bytes = good;
    bytes.push_back(0);
    test::put_file(bias, bytes);
    EXPECT_CONTAINS(read_weights_directory(directory.path()).error, "97 bytes");
    bytes = good;
    set_u32(bytes, 8, 0x7fc00000);
    test::put_file(bias, bytes);
    EXPECT_CONTAINS(read_weights_directory(directory.path()).error, "element 2 of head2_bias");
    std::filesystem::remove(bias);
    EXPECT_CONTAINS(read_weights_directory(directory.path()).error, "No such file");
    test::put_file(bias, good);
    EXPECT_TRUE(read_weights_directory(directory.path()).weights.has_value());
}

}  // namespace
}  // namespace anderson2021
