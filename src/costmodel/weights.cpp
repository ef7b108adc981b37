// Random values and the checksum. Reading and writing is in weights_file.cpp, the choice among
// sources in select_weights.cpp.
// sources in select_weights.cpp.
#include "costmodel/weights.h"

#include <random>

namespace anderson2021 {

Weights::Weights() {
    const auto all = buffers();
    for (size_t i = 0; i < all.size(); i++) {
        all[i]->assign(kWeightBuffers[i].size(), 0.0f);
    }
}

std::array<std::vector<float> *, kNumWeightBuffers> Weights::buffers() {
    return {&head1_filter, &head1_bias, &head2_filter, &head2_bias, &conv1_filter, &conv1_bias};
}

std::array<const std::vector<float> *, kNumWeightBuffers> Weights::buffers() const {
    return {&head1_filter, &head1_bias, &head2_filter, &head2_bias, &conv1_filter, &conv1_bias};
}

Weights Weights::random(uint32_t seed) {
    // The standard fixes the output of the generator itself; its distributions differ from library
    // to library and are not used.
    std::mt19937 generator(seed);
    Weights result;
    for (std::vector<float> *buffer : result.buffers()) {
        for (float &value : *buffer) {
            const auto draw = static_cast<uint32_t>(generator());
            value = static_cast<float>(draw) / 4294967296.0f - 0.5f;
        }
    }
    return result;
}

uint32_t Weights::checksum() const {
    uint32_t crc = 0xffffffffu;
    for (const uint8_t byte : serialize_weights(*this)) {
        crc ^= byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
        }
    }
    return ~crc;
}

}  // namespace anderson2021
