// A lock for sections of some hundred nanoseconds, where putting a thread to sleep and waking it
// would take longer than the section itself.
#pragma once

#include <atomic>
#include <thread>

namespace anderson2021 {

/// Tells the processor that this thread is waiting for another one.
inline void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

/// Lockable, for std::lock_guard. Not recursive.
class SpinLock {
public:
    void lock() {
        for (int looks = 0; is_locked_.exchange(true, std::memory_order_acquire); looks++) {
            // The owner may have lost its processor.
            looks < kLooksPerYield ? relax_processor() : std::this_thread::yield();
        }
    }
    bool try_lock() {
        return !is_locked_.load(std::memory_order_relaxed) &&
               !is_locked_.exchange(true, std::memory_order_acquire);
    }
    void unlock() { is_locked_.store(false, std::memory_order_release); }

private:
    static constexpr int kLooksPerYield = 200;

    std::atomic<bool> is_locked_{false};
};

}  // namespace anderson2021
