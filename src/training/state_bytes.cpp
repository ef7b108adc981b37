#include "training/state_bytes.h"

#include <cstring>

#include "costmodel/file_bytes.h"
#include "training/packed_samples.h"

namespace anderson2021 {

StateWriter::StateWriter(uint32_t kind, uint32_t version) {
    append_u32(bytes_, kind);
    append_u32(bytes_, version);
}

StateWriter &StateWriter::add(uint64_t value) {
    append_u32(bytes_, static_cast<uint32_t>(value));
    append_u32(bytes_, static_cast<uint32_t>(value >> 32));
    return *this;
}

StateWriter &StateWriter::add(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return add(bits);
}

StateWriter &StateWriter::add(const Weights &weights) {
    for (const std::vector<float> *buffer : weights.buffers()) {
        for (const float value : *buffer) {
            append_f32(bytes_, value);
        }
    }
    return *this;
}

std::vector<uint8_t> StateWriter::finish() const {
    std::vector<uint8_t> bytes = bytes_;
    append_u32(bytes, crc32(bytes_.data(), bytes_.size()));
    return bytes;
}

StateReader::StateReader(const std::vector<uint8_t> &bytes, uint32_t kind, uint32_t version)
    : bytes_(bytes), kind_(kind), version_(version) {}

std::string StateReader::fault(size_t expected_size) const {
    if (bytes_.size() < 8 || load_u32(bytes_.data()) != kind_) {
        return "it is no state of a training run";
    }
    const size_t size = bytes_.size() - 4;
    if (bytes_.size() != expected_size || load_u32(bytes_.data() + 4) != version_ ||
        crc32(bytes_.data(), size) != load_u32(bytes_.data() + size)) {
        return "it is damaged";
    }
    return "";
}

uint64_t StateReader::next() {
    const uint64_t low = load_u32(bytes_.data() + at_);
    const uint64_t high = load_u32(bytes_.data() + at_ + 4);
    at_ += 8;
    return low | high << 32;
}

double StateReader::next_double() {
    const uint64_t bits = next();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

void StateReader::next(Weights &weights) {
    for (std::vector<float> *buffer : weights.buffers()) {
        for (float &value : *buffer) {
            value = load_f32(bytes_.data() + at_);
            at_ += 4;
        }
    }
}

}  // namespace anderson2021
