#include <gtest/gtest.h>

#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {
namespace {

class LogTest : public ::testing::Test {
protected:
    void SetUp() override {
        set_log_sink([this](const std::string &text) { written_ += text; });
    }
    void TearDown() override {
        set_log_sink({});
        set_log_level(0);
    }
    std::string written_;
};

TEST_F(LogTest, WritesWholeLinesUpToTheLevel) {
    set_log_level(1);
    ANDERSON_LOG(1) << "shown " << 7;
    ANDERSON_LOG(2) << "hidden";
    EXPECT_EQ(written_, "shown 7\n");
}

TEST_F(LogTest, DoesNotEvaluateHiddenOperands) {
    int evaluations = 0;
    ANDERSON_LOG(1) << ++evaluations;
    EXPECT_EQ(evaluations, 0);
    set_log_level(1);
    ANDERSON_LOG(1) << ++evaluations;
    EXPECT_EQ(evaluations, 1);
}

// As the plugin does while it is being loaded, if its name is taken. What is not ready by then is
// noticed in builds with AddressSanitizer.
struct LogsWhileLoading {
    LogsWhileLoading() {
        set_log_sink([this](const std::string &text) { written += text; });
        write_log("early\n");
        set_log_sink({});
    }
    std::string written;
};
const LogsWhileLoading logs_while_loading;

TEST(Log, IsReadyBeforeMain) {
    EXPECT_EQ(logs_while_loading.written, "early\n");
}

TEST(Check, ThrowsWithPlaceConditionAndText) {
    const int three = 3;
    EXPECT_NO_THROW(ANDERSON_CHECK(three == 3) << "not reached");
    try {
        ANDERSON_CHECK(three == 4) << "three is " << three;
        FAIL() << "nothing was thrown";
    } catch (const InternalError &e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("log_test.cpp"), std::string::npos) << text;
        EXPECT_NE(text.find("three == 4"), std::string::npos) << text;
        EXPECT_NE(text.find("three is 3"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace anderson2021
