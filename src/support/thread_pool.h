// A pool of threads for loops whose iterations do not depend on each other.
//
// Iterations write their results to slots of their own, so the outcome does not depend on how many
// threads there are or on who runs what. The calling thread always works too; that is why a loop
// may contain other loops on the same pool without waiting for a free thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace anderson2021 {

class ThreadPool {
public:
    /// `threads` counts the caller; 0 means one per hardware thread. With 1 no thread is started
    /// and everything runs inline. Starts fewer threads if the system refuses more.
    explicit ThreadPool(int threads);
    /// Joins all threads, so that their code may be unloaded afterwards. No loop may be running.
    ~ThreadPool();
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    /// Number of threads that work on a loop, the caller included; at least 1.
    int num_threads() const;

    /// Calls fn(0) ... fn(n - 1), each exactly once, in any order and on any thread; returns when
    /// all have finished. An exception does not keep other iterations from running; afterwards the
    /// one of the smallest index is rethrown. May be called from several threads and from inside
    /// of an iteration. Everything that iterations wrote is visible to the caller afterwards.
    void parallel_for(int64_t n, const std::function<void(int64_t)> &fn);

private:
    struct Shared;
    std::unique_ptr<Shared> shared_;
};

}  // namespace anderson2021
