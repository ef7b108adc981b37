// A vector that keeps up to N elements inside the object: the search makes millions of lists of a
// few numbers each, and most of its time would go into allocating them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace anderson2021 {

/// Elements are default-constructed up to N and cheap to copy. Longer lists move to the heap.
template<typename T, size_t N>
class SmallVector {
public:
    SmallVector() = default;
    SmallVector(size_t size, const T &value) { assign(size, value); }
    SmallVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
    // Implicit, so that callers may pass either kind of list.
    SmallVector(const std::vector<T> &values) { append(values.begin(), values.end()); }

    SmallVector(const SmallVector &) = default;
    SmallVector &operator=(const SmallVector &) = default;
    /// What was moved from is empty.
    SmallVector(SmallVector &&other) noexcept
        : size_(std::exchange(other.size_, 0)), inline_(std::move(other.inline_)),
          heap_(std::move(other.heap_)) {}
    SmallVector &operator=(SmallVector &&other) noexcept {
        size_ = std::exchange(other.size_, 0);
        inline_ = std::move(other.inline_);
        heap_ = std::move(other.heap_);
        return *this;
    }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T *data() const { return on_heap() ? heap_.data() : inline_.data(); }
    T *data() { return on_heap() ? heap_.data() : inline_.data(); }
    const T *begin() const { return data(); }
    const T *end() const { return data() + size_; }
    T *begin() { return data(); }
    T *end() { return data() + size_; }
    const T &operator[](size_t i) const { return data()[i]; }
    T &operator[](size_t i) { return data()[i]; }
    const T &back() const { return data()[size_ - 1]; }
    T &back() { return data()[size_ - 1]; }

    void clear() {
        heap_.clear();
        size_ = 0;
    }
    /// Room for that many elements.
    void reserve(size_t size) {
        if (size > N) {
            heap_.reserve(size);
        }
    }
    void push_back(T value) {
        if (size_ < N) {
            inline_[size_] = std::move(value);
        } else {
            if (size_ == N) {
                heap_.assign(inline_.begin(), inline_.end());
            }
            heap_.push_back(std::move(value));
        }
        size_++;
    }
    /// New elements are copies of `value`.
    void resize(size_t size, const T &value = T()) {
        while (size_ < size) {
            push_back(value);
        }
        if (on_heap() && size <= N) {
            std::move(heap_.begin(), heap_.begin() + static_cast<ptrdiff_t>(size), inline_.begin());
            heap_.clear();
        } else if (on_heap()) {
            heap_.resize(size);
        }
        size_ = size;
    }
    void pop_back() { resize(size_ - 1); }
    void assign(size_t size, const T &value) {
        clear();
        resize(size, value);
    }
    template<typename Iterator>
    void append(Iterator first, Iterator last) {
        for (; first != last; ++first) {
            push_back(*first);
        }
    }
    std::vector<T> to_vector() const { return {begin(), end()}; }

    friend bool operator==(const SmallVector &a, const SmallVector &b) {
        if (a.size_ != b.size_) {
            return false;
        }
        for (size_t i = 0; i < a.size_; i++) {
            if (!(a[i] == b[i])) {
                return false;
            }
        }
        return true;
    }
    friend bool operator!=(const SmallVector &a, const SmallVector &b) { return !(a == b); }
    friend bool operator<(const SmallVector &a, const SmallVector &b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    bool on_heap() const { return size_ > N; }

    size_t size_ = 0;
    std::array<T, N> inline_{};
    // All elements once there are more than N.
    std::vector<T> heap_;
};

/// Trip counts or numbers of threads: one per loop or dimension.
using Extents = SmallVector<int64_t, 6>;

}  // namespace anderson2021
