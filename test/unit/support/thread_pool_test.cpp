#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/thread_pool.h"

namespace anderson2021 {
namespace {

TEST(ThreadPool, NumberOfThreads) {
    EXPECT_EQ(ThreadPool(1).num_threads(), 1);
    EXPECT_EQ(ThreadPool(4).num_threads(), 4);
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    EXPECT_EQ(ThreadPool(0).num_threads(), cores > 0 ? cores : 1);
}

TEST(ThreadPool, EveryIndexExactlyOnce) {
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        for (const int64_t n : {0, 1, 2, 3, 1000}) {
            std::vector<int> calls(static_cast<size_t>(n), 0);
            pool.parallel_for(n, [&](int64_t i) { calls[static_cast<size_t>(i)]++; });
            EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(n), 1))
                << threads << " threads, " << n << " iterations";
        }
    }
}

TEST(ThreadPool, OneThreadRunsInlineInOrder) {
    ThreadPool pool(1);
    std::vector<int64_t> order;
    const std::thread::id self = std::this_thread::get_id();
    pool.parallel_for(5, [&](int64_t i) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        order.push_back(i);
    });
    EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(ThreadPool, ThreadsReallyWorkAtTheSameTime) {
    // Two iterations that wait for each other can only end if two threads run them.
    ThreadPool pool(2);
    std::atomic<int> arrived{0};
    pool.parallel_for(2, [&](int64_t) {
        arrived++;
        while (arrived < 2) {
            std::this_thread::yield();
        }
    });
    EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, RethrowsTheFailureOfTheSmallestIndex) {
    for (const int threads : {1, 4}) {
        ThreadPool pool(threads);
        std::atomic<int> calls{0};
        std::string message;
        try {
            pool.parallel_for(100, [&](int64_t i) {
                calls++;
                if (i % 7 == 3) {
                    throw std::runtime_error(std::to_string(i));
                }
            });
        } catch (const std::runtime_error &e) {
            message = e.what();
        }
        EXPECT_EQ(message, "3");
        EXPECT_EQ(calls, 100);
        // And the pool is still usable.
        std::atomic<int> later{0};
        pool.parallel_for(10, [&](int64_t) { later++; });
        EXPECT_EQ(later, 10);
    }
}

TEST(ThreadPool, NestedLoops) {
    for (const int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        std::vector<std::vector<int64_t>> results(20, std::vector<int64_t>(30));
        pool.parallel_for(20, [&](int64_t i) {
            pool.parallel_for(30, [&](int64_t j) {
                std::atomic<int64_t> sum{0};
                pool.parallel_for(4, [&](int64_t k) { sum += i * j + k; });
                results[static_cast<size_t>(i)][static_cast<size_t>(j)] = sum;
            });
        });
        for (int64_t i = 0; i < 20; i++) {
            for (int64_t j = 0; j < 30; j++) {
                ASSERT_EQ(results[static_cast<size_t>(i)][static_cast<size_t>(j)], 4 * i * j + 6);
            }
        }
    }
}

TEST(ThreadPool, NestedFailurePassesThroughTheOuterLoop) {
    ThreadPool pool(3);
    EXPECT_THROW(pool.parallel_for(4,
                                   [&](int64_t) {
                                       pool.parallel_for(4, [](int64_t j) {
                                           if (j == 2) {
                                               throw std::out_of_range("inner");
                                           }
                                       });
                                   }),
                 std::out_of_range);
}

TEST(ThreadPool, LoopsFromSeveralThreads) {
    ThreadPool pool(3);
    std::vector<std::thread> callers;
    std::vector<int64_t> sums(4, 0);
    for (size_t c = 0; c < sums.size(); c++) {
        callers.emplace_back([&pool, &sums, c] {
            for (int round = 0; round < 50; round++) {
                std::vector<int64_t> slots(17);
                pool.parallel_for(17, [&](int64_t i) { slots[static_cast<size_t>(i)] = i; });
                for (const int64_t s : slots) {
                    sums[c] += s;
                }
            }
        });
    }
    for (std::thread &t : callers) {
        t.join();
    }
    EXPECT_EQ(sums, std::vector<int64_t>(4, 50 * 136));
}

TEST(ThreadPool, IdlePoolCanBeDestroyedAtOnce) {
    for (int i = 0; i < 50; i++) {
        const ThreadPool pool(4);
    }
}

}  // namespace
}  // namespace anderson2021
