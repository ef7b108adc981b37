// The bytes of a training run's state: numbers and weights between a kind, a version and a CRC-32.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/weights.h"

namespace anderson2021 {

class StateWriter {
public:
    StateWriter(uint32_t kind, uint32_t version);

    StateWriter &add(uint64_t value);
    StateWriter &add(double value);
    StateWriter &add(const Weights &weights);
    /// All bytes, with the checksum behind them.
    std::vector<uint8_t> finish() const;

private:
    std::vector<uint8_t> bytes_;
};

/// Reads in the order of writing. Check fault() first, for there is no check later.
class StateReader {
public:
    StateReader(const std::vector<uint8_t> &bytes, uint32_t kind, uint32_t version);

    /// Empty string, or the reason why the bytes are no whole state of that kind with
    /// `expected_size` bytes.
    std::string fault(size_t expected_size) const;
    uint64_t next();
    double next_double();
    void next(Weights &weights);

private:
    const std::vector<uint8_t> &bytes_;
    uint32_t kind_, version_;
    size_t at_ = 8;
};

}  // namespace anderson2021
