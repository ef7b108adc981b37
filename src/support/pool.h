// Memory for what a search makes and forgets by the hundred thousand: nests, regions, records of
// features. The general allocator lets threads wait for each other when one frees what another has
// allocated, which is the rule here; that cost more than a second thread gained.
//
// Small blocks are cut from large chunks, and freed ones are kept in lists by size. Threads have
// lists of their own, so they hardly ever meet. Chunks are given back once nothing is in use.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace anderson2021 {

/// Safe from any thread.
namespace pool {

/// Blocks beyond this size come from operator new.
constexpr size_t kMaxBytes = 2048;

/// Throws std::bad_alloc. Aligned for any type that needs no extended alignment.
void *allocate(size_t bytes);
/// `bytes` as given to allocate().
void deallocate(void *block, size_t bytes) noexcept;
/// Gives all chunks back to the system if no block is in use, else does nothing.
void release_unused() noexcept;
/// Bytes of all chunks.
size_t bytes_held() noexcept;

}  // namespace pool

/// For standard containers and std::allocate_shared.
template<typename T>
class PoolAllocator {
public:
    using value_type = T;
    static_assert(alignof(T) <= alignof(std::max_align_t));

    PoolAllocator() = default;
    // Converting, as containers want it.
    template<typename U>
    PoolAllocator(const PoolAllocator<U> &) noexcept {}

    T *allocate(size_t n) { return static_cast<T *>(pool::allocate(n * sizeof(T))); }
    void deallocate(T *block, size_t n) noexcept { pool::deallocate(block, n * sizeof(T)); }

    friend bool operator==(const PoolAllocator &, const PoolAllocator &) { return true; }
    friend bool operator!=(const PoolAllocator &, const PoolAllocator &) { return false; }
};

/// std::make_shared with memory of the pool.
template<typename T, typename... Arguments>
std::shared_ptr<T> make_pooled(Arguments &&...arguments) {
    return std::allocate_shared<T>(PoolAllocator<T>(), std::forward<Arguments>(arguments)...);
}

}  // namespace anderson2021
