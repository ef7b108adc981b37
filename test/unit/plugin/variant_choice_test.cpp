// What the host learns of the choice between variants, and what becomes of one without a schedule.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "anderson2021/progress.h"
#include "plugin/progress_callback.h"
#include "support/error.h"
#include "support/log.h"
#include "variant_fixtures.h"

namespace anderson2021 {
namespace {

using test::ReductionPipeline;
using test::target;
using VariantChoice = test::Variants;

/// Records what a host sees, and answers.
class Host {
public:
    explicit Host(int answer_to_all = ANDERSON2021_CONTINUE) : answer_(answer_to_all) {
        anderson2021_set_progress_callback(
            [](const anderson2021_progress *progress, void *user) {
                static_cast<Host *>(user)->seen.push_back(*progress);
                return static_cast<Host *>(user)->answer_;
            },
            this);
    }
    ~Host() { anderson2021_set_progress_callback(nullptr, nullptr); }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;

    std::vector<anderson2021_progress> seen;

private:
    int answer_;
};

TEST_F(VariantChoice, ReportProgress) {
    Host host;
    SearchMonitor monitor(options_);
    const ReductionPipeline p("sum");
    choose(p, monitor);
    ASSERT_FALSE(host.seen.empty()) << "nothing is reported before the search itself";
    EXPECT_EQ(host.seen[0].pass, 1);
    EXPECT_GT(host.seen[0].passes, 3);
    EXPECT_LT(host.seen[0].fraction, 0.5);
    for (const anderson2021_progress &now : host.seen) {
        EXPECT_TRUE(std::isinf(now.best_cost_ms)) << "no trial's schedule is that of the run";
        EXPECT_LT(now.fraction, 1);
    }
}

TEST_F(VariantChoice, LetTheHostEndTheTrials) {
    Host host(ANDERSON2021_STOP);
    SearchMonitor monitor(options_);
    const ReductionPipeline p("sum");
    EXPECT_TRUE(choose(p, monitor)->parts.empty()) << "the first one is the best so far";
    EXPECT_TRUE(monitor.is_stopped());
    EXPECT_EQ(host.seen.size(), 1u);
    // A partial schedule may be meant for another one.
    SearchMonitor whole_run(options_);
    anderson2021_set_progress_callback(nullptr, nullptr);
    const VariantPtr variant = choose(p, whole_run);
    char name[] = "/tmp/anderson_partial_XXXXXX";
    const int file = mkstemp(name);
    ASSERT_GE(file, 0);
    close(file);
    std::ofstream(name) << tree_of(*variant);
    options_.partial_schedule_path = name;
    EXPECT_EQ(describe_parts(*choose(p, monitor)), describe_parts(*variant));
    std::remove(name);
}

TEST_F(VariantChoice, LetTheHostGiveUp) {
    Host host(ANDERSON2021_ABORT);
    EXPECT_THROW(choose(ReductionPipeline("sum")), SearchGivenUp);
    EXPECT_EQ(host.seen.size(), 1u);
}

TEST_F(VariantChoice, AreGivenUpForThePipelineAsItIs) {
    const ReductionPipeline p("sum");
    const VariantPtr split = choose(p);
    ASSERT_FALSE(split->parts.empty());
    const VariantPtr as_it_is =
        PipelineVariants(p.outputs(), {options_, device_, target()}).as_it_is();
    std::string log;
    std::vector<VariantPtr> tried;
    const auto failing = [&](size_t failures, auto error) {
        log.clear();
        tried.clear();
        return [&tried, failures, error](const VariantPtr &variant) {
            tried.push_back(variant);
            if (tried.size() <= failures) {
                throw error;
            }
        };
    };
    set_log_sink([&](const std::string &text) { log += text; });
    EXPECT_EQ(schedule_some(split, as_it_is, failing(0, UserError(""))), split);
    EXPECT_EQ(log, "");
    EXPECT_EQ(tried.size(), 1u);

    EXPECT_EQ(schedule_some(split, as_it_is, failing(1, UserError("s_intm is too large"))),
              as_it_is);
    EXPECT_EQ(tried, (std::vector<VariantPtr>{split, as_it_is}));
    for (const std::string &part :
         {std::string("Warning: "), describe_parts(*split), std::string("s_intm is too large")}) {
        EXPECT_NE(log.find(part), std::string::npos) << log;
    }
    EXPECT_EQ(schedule_some(split, as_it_is, failing(1, InternalError("odd"))), as_it_is);
    EXPECT_NE(log.find("odd"), std::string::npos) << log;

    EXPECT_THROW(schedule_some(split, as_it_is, failing(2, UserError("never"))), UserError);
    EXPECT_EQ(tried.size(), 2u);
    EXPECT_THROW(schedule_some(split, as_it_is, failing(1, SearchGivenUp("enough"))),
                 SearchGivenUp);
    EXPECT_EQ(tried.size(), 1u) << "the host wants an error";
    EXPECT_THROW(schedule_some(as_it_is, as_it_is, failing(1, UserError("none"))), UserError);
    EXPECT_EQ(tried.size(), 1u);
    set_log_sink(nullptr);
}

}  // namespace
}  // namespace anderson2021
