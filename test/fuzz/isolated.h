// Runs numbered cases in child processes, so that crashes and endless loops are findings, too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace anderson2021 {
namespace test {

enum class CaseOutcome : int { Passed, Refused, Failed };

struct IsolatedRun {
    /// Runs the case of that seed; `message` says what is wrong if it failed. Called in a child.
    std::function<CaseOutcome(uint64_t seed, std::string *message)> run_case;
    /// The command that repeats the case, for the report.
    std::function<std::string(uint64_t seed)> reproducer;
    uint64_t first_seed = 0;
    /// Cases; 0: until the time is up.
    uint64_t count = 0;
    /// 0: no limit.
    double seconds = 0;
    /// After which a case counts as hanging; builds with sanitizers wait longer.
    double case_seconds = 60;
    /// After which a child is replaced, so that memory that cases leave behind does not add up.
    uint64_t cases_per_child = 256;
    /// Where the next seed is kept, to go on from in another run; empty: nowhere.
    std::string state_file;
};

struct IsolatedCounts {
    uint64_t cases = 0, refused = 0, failures = 0;
    uint64_t next_seed = 0;
    double slowest_seconds = 0;
    uint64_t slowest_seed = 0;
};

/// Prints a line for every failure.
IsolatedCounts run_isolated(const IsolatedRun &run);

}  // namespace test
}  // namespace anderson2021
