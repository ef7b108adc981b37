// Loops with iterations left to start form a list. An idle thread takes iterations of the newest
// loop one by one: inner loops of nested ones come first, which frees those who wait for them. A
// caller takes iterations of its own loop only and then waits for those that others still run;
// these always end, since the threads that run them wait for nothing but deeper loops.
//
// A search consists of thousands of loops of some microseconds each, and putting a thread to sleep
// and waking it takes longer than that. So whoever has to wait looks on for a short while first.
#include "support/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "support/spin_lock.h"

namespace anderson2021 {
namespace {

constexpr int kMaxThreads = 1024;
// Waking a thread may take a hundred microseconds, most of all on virtual machines.
constexpr std::chrono::microseconds kPatience(400);

/// True once `condition` holds, false if it does not within kPatience.
template<typename Condition>
bool holds_soon(Condition condition) {
    constexpr int kLooksPerClock = 32;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    do {
        for (int i = 0; i < kLooksPerClock; i++) {
            if (condition()) {
                return true;
            }
            relax_processor();
        }
        // Somebody may wait for this processor, maybe even the one whom this thread is waiting for.
        std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
}

/// One call of parallel_for; lives on the stack of the caller.
struct Loop {
    Loop(int64_t count, const std::function<void(int64_t)> &body) : n(count), fn(body) {}

    const int64_t n;
    const std::function<void(int64_t)> &fn;
    /// Next iteration to start.
    std::atomic<int64_t> next{0};
    /// Threads of the pool inside of run(). Changed under the mutex of the pool only.
    std::atomic<int> helpers{0};
    std::mutex failure_mutex;
    int64_t failed_index = std::numeric_limits<int64_t>::max();
    std::exception_ptr failure;

    bool exhausted() const { return next.load(std::memory_order_relaxed) >= n; }

    /// Runs iterations until none is left to start.
    void run() {
        for (int64_t i = next++; i < n; i = next++) {
            try {
                fn(i);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(failure_mutex);
                if (i < failed_index) {
                    failed_index = i;
                    failure = std::current_exception();
                }
            }
        }
    }
};

}  // namespace

struct ThreadPool::Shared {
    std::mutex mutex;
    /// Something to do, or time to stop.
    std::condition_variable work;
    /// A helper has left a loop.
    std::condition_variable left;
    std::vector<Loop *> loops;
    /// Loops that were ever in the list. Changed under the mutex.
    std::atomic<uint64_t> num_loops{0};
    int num_sleepers = 0;
    std::atomic<bool> stopping{false};
    std::vector<std::thread> threads;

    void work_until_stopped() {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            Loop *const loop = next_loop(lock);
            if (loop == nullptr) {
                return;
            }
            loop->helpers++;
            lock.unlock();
            loop->run();
            lock.lock();
            if (--loop->helpers == 0) {
                left.notify_all();
            }
        }
    }

    /// Waits for a loop to take part in; null if it is time to stop. With the lock.
    Loop *next_loop(std::unique_lock<std::mutex> &lock) {
        Loop *loop = newest_unfinished();
        if (loop == nullptr && !stopping) {
            const uint64_t seen = num_loops;
            lock.unlock();
            holds_soon([&] { return num_loops != seen || stopping; });
            lock.lock();
        }
        num_sleepers++;
        work.wait(lock, [&] {
            loop = newest_unfinished();
            return stopping || loop != nullptr;
        });
        num_sleepers--;
        return loop;
    }

    Loop *newest_unfinished() {
        const auto found = std::find_if(
            loops.rbegin(), loops.rend(), [](const Loop *l) { return !l->exhausted(); });
        return found == loops.rend() ? nullptr : *found;
    }

    /// Takes part in a loop that the helpers know of, until it is done.
    void share(Loop &loop) {
        int64_t to_wake = loop.n - 1;
        {
            const std::lock_guard<std::mutex> lock(mutex);
            loops.push_back(&loop);
            num_loops++;
            to_wake = std::min<int64_t>(to_wake, num_sleepers);
        }
        for (int64_t i = 0; i < to_wake; i++) {
            work.notify_one();
        }
        loop.run();
        std::unique_lock<std::mutex> lock(mutex);
        loops.erase(std::find(loops.begin(), loops.end(), &loop));
        if (loop.helpers != 0) {
            lock.unlock();
            holds_soon([&] { return loop.helpers == 0; });
            lock.lock();
        }
        left.wait(lock, [&] { return loop.helpers == 0; });
    }
};

ThreadPool::ThreadPool(int threads) : shared_(std::make_unique<Shared>()) {
    if (threads <= 0) {
        threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    }
    threads = std::min(threads, kMaxThreads);
    Shared *shared = shared_.get();
    shared->threads.reserve(static_cast<size_t>(threads - 1));
    for (int i = 1; i < threads; i++) {
        try {
            shared->threads.emplace_back([shared] { shared->work_until_stopped(); });
        } catch (const std::system_error &) {
            break;  // Out of threads: those that exist have to do.
        }
    }
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard<std::mutex> lock(shared_->mutex);
        shared_->stopping = true;
    }
    shared_->work.notify_all();
    for (std::thread &t : shared_->threads) {
        t.join();
    }
}

int ThreadPool::num_threads() const {
    return static_cast<int>(shared_->threads.size()) + 1;
}

void ThreadPool::parallel_for(int64_t n, const std::function<void(int64_t)> &fn) {
    if (n <= 0) {
        return;
    }
    Loop loop(n, fn);
    if (n == 1 || shared_->threads.empty()) {
        loop.run();
    } else {
        shared_->share(loop);
    }
    if (loop.failure) {
        std::rethrow_exception(loop.failure);
    }
}

}  // namespace anderson2021
