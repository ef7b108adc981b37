// A set of small non-negative integers (Func or stage ids) of a capacity fixed at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anderson2021 {

class BitSet {
public:
    BitSet() = default;
    explicit BitSet(int capacity) : words_((static_cast<size_t>(capacity) + 63) / 64) {}

    bool contains(int i) const {
        const size_t word = static_cast<size_t>(i) / 64;
        return word < words_.size() && ((words_[word] >> (i % 64)) & 1) != 0;
    }
    bool empty() const {
        for (const uint64_t w : words_) {
            if (w != 0) {
                return false;
            }
        }
        return true;
    }
    void insert(int i) {
        const size_t word = static_cast<size_t>(i) / 64;
        if (word >= words_.size()) {
            words_.resize(word + 1);
        }
        words_[word] |= uint64_t{1} << (i % 64);
    }
    void insert(const BitSet &other) {
        if (other.words_.size() > words_.size()) {
            words_.resize(other.words_.size());
        }
        for (size_t i = 0; i < other.words_.size(); i++) {
            words_[i] |= other.words_[i];
        }
    }
    const std::vector<uint64_t> &words() const { return words_; }

private:
    std::vector<uint64_t> words_;
};

}  // namespace anderson2021
