// A set of small non-negative integers (Func or stage ids) of a capacity fixed at construction.
// Small sets live inside the object: schedules hold two per nest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anderson2021 {

class BitSet {
public:
    BitSet() = default;
    explicit BitSet(int capacity) { reserve((static_cast<size_t>(capacity) + 63) / 64); }

    bool contains(int i) const {
        const size_t word = static_cast<size_t>(i) / 64;
        return word < num_words_ && ((data()[word] >> (i % 64)) & 1) != 0;
    }
    bool empty() const {
        for (size_t i = 0; i < num_words_; i++) {
            if (data()[i] != 0) {
                return false;
            }
        }
        return true;
    }
    /// Number of elements.
    int count() const {
        int n = 0;
        for (size_t i = 0; i < num_words_; i++) {
            n += __builtin_popcountll(data()[i]);
        }
        return n;
    }
    void insert(int i) {
        const size_t word = static_cast<size_t>(i) / 64;
        reserve(word + 1);
        data()[word] |= uint64_t{1} << (i % 64);
    }
    void insert(const BitSet &other) {
        reserve(other.num_words_);
        for (size_t i = 0; i < other.num_words_; i++) {
            data()[i] |= other.data()[i];
        }
    }
    void remove(const BitSet &other) {
        for (size_t i = 0; i < num_words_ && i < other.num_words_; i++) {
            data()[i] &= ~other.data()[i];
        }
    }
    /// Calls fn(i) for each element in ascending order.
    template<typename Fn>
    void for_each(Fn fn) const {
        for (size_t i = 0; i < num_words_; i++) {
            for (uint64_t rest = data()[i]; rest != 0; rest &= rest - 1) {
                fn(static_cast<int>(i * 64) + __builtin_ctzll(rest));
            }
        }
    }
    /// 64 elements each; trailing words may be zero.
    size_t num_words() const { return num_words_; }
    uint64_t word(size_t i) const { return data()[i]; }

    /// Equal elements, whatever the capacities.
    friend bool operator==(const BitSet &a, const BitSet &b) {
        for (size_t i = 0; i < a.num_words_ || i < b.num_words_; i++) {
            if ((i < a.num_words_ ? a.data()[i] : 0) != (i < b.num_words_ ? b.data()[i] : 0)) {
                return false;
            }
        }
        return true;
    }
    friend bool operator!=(const BitSet &a, const BitSet &b) { return !(a == b); }

private:
    static constexpr size_t kInlineWords = 2;

    const uint64_t *data() const { return num_words_ <= kInlineWords ? inline_ : large_.data(); }
    uint64_t *data() { return num_words_ <= kInlineWords ? inline_ : large_.data(); }

    void reserve(size_t words) {
        if (words <= num_words_) {
            return;
        }
        if (words > kInlineWords) {
            if (num_words_ <= kInlineWords) {
                large_.assign(inline_, inline_ + num_words_);
            }
            large_.resize(words);
        }
        num_words_ = words;
    }

    size_t num_words_ = 0;
    // The words if they fit, else unused.
    uint64_t inline_[kInlineWords] = {};
    std::vector<uint64_t> large_;
};

}  // namespace anderson2021
