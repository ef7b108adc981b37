// The sizes of the network's layers and of the six buffers that hold its parameters.
#pragma once

#include <array>
#include <cstddef>

namespace anderson2021 {

/// Embedding of algorithm features: channels, kinds of feature, scalar types.
constexpr int kHead1Channels = 8, kHead1Width = 40, kHead1Height = 7;
/// Embedding of schedule features: channels, features.
constexpr int kHead2Channels = 24, kHead2Width = 73;
/// Coefficients; the last two pad them to whole vectors.
constexpr int kConv1Channels = 32;
/// Algorithm features of a stage that the network sees.
constexpr int kNumNetworkFeatures = kHead1Width * kHead1Height;

/// What is known of a buffer before any file is read.
struct WeightBuffer {
    const char *name;
    /// Innermost extent first; the unused ones are 1.
    std::array<int, 3> extents;
    int dimensions;
    /// File name in the directory form.
    const char *file_name;

    constexpr size_t size() const {
        return static_cast<size_t>(extents[0]) * static_cast<size_t>(extents[1]) *
               static_cast<size_t>(extents[2]);
    }
};

constexpr int kNumWeightBuffers = 6;

/// The buffers in file order.
inline constexpr std::array<WeightBuffer, kNumWeightBuffers> kWeightBuffers = {{
    {"head1_filter", {kHead1Channels, kHead1Width, kHead1Height}, 3, "head1_conv1_weight.data"},
    {"head1_bias", {kHead1Channels, 1, 1}, 1, "head1_conv1_bias.data"},
    {"head2_filter", {kHead2Channels, kHead2Width, 1}, 2, "head2_conv1_weight.data"},
    {"head2_bias", {kHead2Channels, 1, 1}, 1, "head2_conv1_bias.data"},
    {"conv1_filter",
     {kConv1Channels, kHead1Channels + kHead2Channels, 1},
     2,
     "trunk_conv1_weight.data"},
    {"conv1_bias", {kConv1Channels, 1, 1}, 1, "trunk_conv1_bias.data"},
}};

}  // namespace anderson2021
