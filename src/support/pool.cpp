#include "support/pool.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <utility>

#include "support/spin_lock.h"

namespace anderson2021 {
namespace pool {

namespace {

#if (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)) && !defined(ANDERSON_WATCH_POOL)
// Sanitizers watch the general allocator only. The tests of the pool itself want it as it is.
constexpr size_t kMaxPooled = 0;
#else
constexpr size_t kMaxPooled = kMaxBytes;
#endif
constexpr size_t kStep = 32;
constexpr size_t kNumSizes = kMaxBytes / kStep;
constexpr size_t kChunkBytes = size_t{2} << 20;
constexpr size_t kNumLanes = 16;

struct FreeBlock {
    FreeBlock *next;
};

// What one thread, or a few if there are very many, allocates from and frees to.
struct alignas(64) Lane {
    SpinLock lock;
    std::array<FreeBlock *, kNumSizes> free{};
    // The rest of the last chunk.
    char *next = nullptr;
    size_t bytes_left = 0;
    // Allocated minus freed here; only the sum of all lanes says something.
    int64_t num_in_use = 0;

    FreeBlock *pop(size_t size) {
        FreeBlock *const block = free[size];
        if (block != nullptr) {
            free[size] = block->next;
        }
        return block;
    }
};

// Of the size of a huge page, and aligned like one.
struct Chunk {
    Chunk *next;
    alignas(std::max_align_t) char bytes[kChunkBytes - alignof(std::max_align_t)];
};
static_assert(sizeof(Chunk) == kChunkBytes);
constexpr std::align_val_t kChunkAlignment{kChunkBytes};

// Plain data, so that it may be used while static objects are made and destroyed.
struct Pool {
    std::array<Lane, kNumLanes> lanes;
    SpinLock chunks_lock;
    Chunk *chunks = nullptr;
    size_t num_chunks = 0;
};

Pool the_pool;
std::atomic<unsigned> num_threads{0};

Lane &lane_of_thread() {
    thread_local const unsigned number = num_threads.fetch_add(1, std::memory_order_relaxed);
    return the_pool.lanes[number % kNumLanes];
}

size_t size_class(size_t bytes) {
    return bytes == 0 ? 0 : (bytes - 1) / kStep;
}

// Blocks that were freed in other lanes than the one they came from would pile up there.
FreeBlock *take_from_others(const Lane &lane, size_t size) {
    for (Lane &other : the_pool.lanes) {
        if (&other != &lane && other.lock.try_lock()) {
            FreeBlock *const blocks = std::exchange(other.free[size], nullptr);
            other.lock.unlock();
            if (blocks != nullptr) {
                return blocks;
            }
        }
    }
    return nullptr;
}

void add_chunk(Lane &lane) {
    auto *const chunk = static_cast<Chunk *>(::operator new(sizeof(Chunk), kChunkAlignment));
#if defined(MADV_HUGEPAGE)
    // Thousands of page faults are a tenth of a short search.
    madvise(chunk, sizeof(Chunk), MADV_HUGEPAGE);
#endif
    const std::lock_guard<SpinLock> lock(the_pool.chunks_lock);
    chunk->next = the_pool.chunks;
    the_pool.chunks = chunk;
    the_pool.num_chunks++;
    lane.next = chunk->bytes;
    lane.bytes_left = sizeof(chunk->bytes);
}

}  // namespace

void *allocate(size_t bytes) {
    if (bytes > kMaxPooled) {
        return ::operator new(bytes);
    }
    const size_t size = size_class(bytes);
    Lane &lane = lane_of_thread();
    const std::lock_guard<SpinLock> lock(lane.lock);
    FreeBlock *block = lane.pop(size);
    if (block == nullptr) {
        const size_t rounded = (size + 1) * kStep;
        if (lane.bytes_left < rounded) {
            lane.free[size] = take_from_others(lane, size);
            block = lane.pop(size);
        }
        if (block == nullptr) {
            if (lane.bytes_left < rounded) {
                add_chunk(lane);
            }
            block = reinterpret_cast<FreeBlock *>(lane.next);
            lane.next += rounded;
            lane.bytes_left -= rounded;
        }
    }
    lane.num_in_use++;
    return block;
}

void deallocate(void *block, size_t bytes) noexcept {
    if (bytes > kMaxPooled) {
        ::operator delete(block);
        return;
    }
    const size_t size = size_class(bytes);
    Lane &lane = lane_of_thread();
    const std::lock_guard<SpinLock> lock(lane.lock);
    lane.free[size] = new (block) FreeBlock{lane.free[size]};
    lane.num_in_use--;
}

void release_unused() noexcept {
    int64_t num_in_use = 0;
    for (Lane &lane : the_pool.lanes) {
        lane.lock.lock();
        num_in_use += lane.num_in_use;
    }
    if (num_in_use == 0) {
        const std::lock_guard<SpinLock> lock(the_pool.chunks_lock);
        while (the_pool.chunks != nullptr) {
            ::operator delete(std::exchange(the_pool.chunks, the_pool.chunks->next),
                              kChunkAlignment);
        }
        the_pool.num_chunks = 0;
        for (Lane &lane : the_pool.lanes) {
            lane.free = {};
            lane.next = nullptr;
            lane.bytes_left = 0;
        }
    }
    for (Lane &lane : the_pool.lanes) {
        lane.lock.unlock();
    }
}

size_t bytes_held() noexcept {
    const std::lock_guard<SpinLock> lock(the_pool.chunks_lock);
    return the_pool.num_chunks * sizeof(Chunk);
}

}  // namespace pool
}  // namespace anderson2021
