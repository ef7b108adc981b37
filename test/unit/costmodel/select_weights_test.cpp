// Which weights are used, and that nothing else is used in their place.
#include <filesystem>
#include <gtest/gtest.h>

#include "costmodel/weights.h"
#include "synthetic.h"

namespace anderson2021 {
namespace {

using test::TemporaryDirectory;

class SelectWeights : public testing::Test {
protected:
    const TemporaryDirectory directory_;
    const Weights first_ = Weights::random(1), second_ = Weights::random(2);

    // Writes <name>.weights into the temporary directory.
    std::string put(const std::string &file, const Weights &weights) {
        EXPECT_EQ(write_weights_file(weights, directory_.file(file)), "");
        return directory_.file(file);
    }
    static void expect_chosen(const WeightsSource &source,
                              const Weights &expected,
                              const std::string &described) {
        const SelectedWeights selected = select_weights(source);
        ASSERT_TRUE(selected.weights.has_value()) << selected.description;
        EXPECT_EQ(selected.weights->checksum(), expected.checksum());
        EXPECT_NE(selected.description.find(described), std::string::npos) << selected.description;
    }
    static void expect_refused(const WeightsSource &source,
                               const std::vector<std::string> &described) {
        const SelectedWeights selected = select_weights(source);
        EXPECT_FALSE(selected.weights.has_value());
        for (const std::string &part : described) {
            EXPECT_NE(selected.description.find(part), std::string::npos)
                << part << " is not in: " << selected.description;
        }
    }
};

TEST_F(SelectWeights, DefaultIsTheBuiltInOnes) {
    expect_chosen({"", "", ""}, builtin_weights(), "built-in weights, checksum ");
    expect_chosen({"", "", "baseline"}, builtin_weights(), "built-in weights");
}

TEST_F(SelectWeights, ParameterComesBeforeEnvironment) {
    const std::string a = put("a.weights", first_), b = put("b.weights", second_);
    expect_chosen({a, b, ""}, first_, a + " (autoscheduler.weights_path)");
    expect_chosen({"", b, ""}, second_, b + " (HL_WEIGHTS_DIR)");
}

TEST_F(SelectWeights, AFileMayHaveAnyName) {
    expect_chosen({put("trained", first_), "", ""}, first_, "trained");
    expect_chosen({put("x.data", second_), "", ""}, second_, "x.data");
}

TEST_F(SelectWeights, ACollectionIsSearchedByName) {
    put("baseline.weights", first_);
    put("harris.weights", second_);
    expect_chosen({"", directory_.path(), ""}, first_, "/baseline.weights");
    expect_chosen({"", directory_.path(), "harris"}, second_, "/harris.weights");
    expect_chosen({directory_.path(), "", "harris"}, second_, "/harris.weights");
    expect_refused(
        {"", directory_.path(), "hist"},
        {"HL_WEIGHTS_DIR", directory_.path(), "hist.weights", "one of: baseline, harris"});
}

TEST_F(SelectWeights, TheOldDirectoryFormIsRecognized) {
    ASSERT_EQ(write_weights_directory(second_, directory_.path()), "");
    expect_chosen({directory_.path(), "", ""}, second_, "deprecated");
    expect_refused({directory_.path(), "", "harris"}, {"harris", "single set of weights"});
    std::filesystem::remove(directory_.file("trunk_conv1_bias.data"));
    expect_refused({directory_.path(), "", ""}, {"trunk_conv1_bias.data", "No such file"});
}

TEST_F(SelectWeights, FailuresNamePathReasonAndRemedy) {
    const std::string missing = directory_.file("none.weights");
    expect_refused({missing, "", ""},
                   {missing, "no such file", "autoscheduler.weights_path", "built-in weights"});
    // An unusable parameter does not fall back on the environment.
    const std::string good = put("good.weights", first_);
    expect_refused({missing, good, ""}, {missing});
    expect_refused({"", directory_.path() + "/sub/none", ""}, {"HL_WEIGHTS_DIR", "no such file"});

    const std::string cut = directory_.file("cut.weights");
    std::vector<uint8_t> bytes = serialize_weights(first_);
    bytes.resize(1000);
    test::put_file(cut, bytes);
    expect_refused({cut, "", ""}, {cut, "truncated", "Set autoscheduler.weights_path"});
}

TEST_F(SelectWeights, AnEmptyDirectoryIsRefused) {
    expect_refused({directory_.path(), "", ""}, {directory_.path(), "holds no .weights file"});
}

TEST_F(SelectWeights, ANameThatNothingAnswersToIsRefused) {
    const std::string a = put("a.weights", first_);
    expect_chosen({a, "", "a"}, first_, a);
    expect_refused({a, "", "harris"}, {a, "single file", "harris"});
    expect_refused({"", "", "harris"}, {"autoscheduler.weights", "harris", "HL_WEIGHTS_DIR"});
    expect_refused({directory_.path(), "", "../a"}, {"not a path"});
}

}  // namespace
}  // namespace anderson2021
