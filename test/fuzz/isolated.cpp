#include "isolated.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace anderson2021 {
namespace test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlowdown = 15;
#else
constexpr double kSlowdown = 1;
#endif

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// In memory that parent and child share.
struct Progress {
    std::atomic<uint64_t> seed{0}, done{0}, refused{0}, failures{0};
    std::atomic<double> slowest_seconds{0};
    std::atomic<uint64_t> slowest_seed{0};
};

Progress *make_progress() {
    void *memory =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("mmap");
        std::exit(2);
    }
    return new (memory) Progress;
}

void report(const IsolatedRun &run, uint64_t seed, const std::string &reason) {
    std::printf("FAILED seed %llu: %s\n  repeat with: %s\n",
                static_cast<unsigned long long>(seed),
                reason.c_str(),
                run.reproducer(seed).c_str());
    std::fflush(stdout);
}

void run_one(const IsolatedRun &run, uint64_t seed, Progress &progress) {
    std::string message;
    CaseOutcome outcome = CaseOutcome::Failed;
    const Clock::time_point start = Clock::now();
    try {
        outcome = run.run_case(seed, &message);
    } catch (const std::exception &e) {
        message = std::string("exception: ") + e.what();
    }
    const double seconds = seconds_since(start);
    if (seconds > progress.slowest_seconds) {
        progress.slowest_seconds = seconds;
        progress.slowest_seed = seed;
    }
    if (outcome == CaseOutcome::Failed) {
        report(run, seed, message);
        progress.failures++;
    }
    progress.refused += outcome == CaseOutcome::Refused ? 1 : 0;
}

// Watches a child until it ends. Kills it, and says so, if it stays on one case for too long.
bool wait_for(pid_t child, const IsolatedRun &run, const Progress &progress, int *status) {
    uint64_t last = progress.done;
    Clock::time_point since = Clock::now();
    while (waitpid(child, status, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (progress.done != last) {
            last = progress.done;
            since = Clock::now();
        } else if (seconds_since(since) > run.case_seconds * kSlowdown) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return false;
        }
    }
    return true;
}

}  // namespace

IsolatedCounts run_isolated(const IsolatedRun &run) {
    const Clock::time_point start = Clock::now();
    Progress &progress = *make_progress();
    const auto is_over = [&](uint64_t seed) {
        return (run.count != 0 && seed - run.first_seed >= run.count) ||
               (run.seconds > 0 && seconds_since(start) > run.seconds);
    };
    uint64_t seed = run.first_seed;
    while (!is_over(seed)) {
        progress.seed = seed;
        const pid_t child = fork();
        if (child < 0) {
            std::perror("fork");
            std::exit(2);
        }
        if (child == 0) {
            for (uint64_t n = 0; n < run.cases_per_child && !is_over(progress.seed); n++) {
                run_one(run, progress.seed, progress);
                progress.done++;
                progress.seed++;
            }
            std::fflush(stdout);
#ifdef __SANITIZE_ADDRESS__
            __lsan_do_leak_check();  // _exit() does without
#endif
            _exit(0);
        }
        int status = 0;
        const bool in_time = wait_for(child, run, progress, &status);
        seed = progress.seed;
        if (!in_time || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            const std::string reason =
                !in_time ? "no end after " + std::to_string(run.case_seconds * kSlowdown) + " s"
                : WIFSIGNALED(status) ? "crash, signal " + std::to_string(WTERMSIG(status))
                                      : "exit status " + std::to_string(WEXITSTATUS(status));
            report(run, seed, reason);
            progress.failures++;
            progress.done++;
            seed++;
        }
        if (!run.state_file.empty()) {
            std::ofstream(run.state_file) << seed << "\n";
        }
    }
    return {progress.done,
            progress.refused,
            progress.failures,
            seed,
            progress.slowest_seconds,
            progress.slowest_seed};
}

}  // namespace test
}  // namespace anderson2021
