// Compiled for several instruction sets, among which the loader chooses. No operation is fused or
// reordered in any of them, so all give the same bits.
#include "training/lanes.h"

#include <cstddef>
#include <cstring>

#include "costmodel/network_shape.h"
#include "features/schedule_features.h"

// Choosing happens before sanitizers are ready for it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define ANDERSON_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ANDERSON_CLONES
#endif

namespace anderson2021 {

namespace {

constexpr size_t kL = 16, kInputs = kNumScheduleFeatures;
constexpr size_t kHead2 = kHead2Channels, kTerms = kConv1Channels;
constexpr float kSlope = 1e-10f;

// One value per lane, and eight neighbouring channels.
using Lanes [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
using Eight [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;

#define ANDERSON_INLINE inline __attribute__((always_inline))

// to[k] = start[k] + sum over i of filter[i][k] * from[i], for `kTile` neighbouring channels.
template<size_t kTile>
ANDERSON_INLINE void product(const float *filter,
                             size_t channels,
                             const float *start,
                             const float *from,
                             size_t count,
                             float *to) {
    Lanes sums[kTile];
    for (size_t k = 0; k < kTile; k++) {
        sums[k] = Lanes{} + start[k];
    }
    for (size_t i = 0; i < count; i++) {
        const Lanes input = *reinterpret_cast<const Lanes *>(from + i * kL);
        const float *row = filter + i * channels;
        for (size_t k = 0; k < kTile; k++) {
            sums[k] += row[k] * input;
        }
    }
    for (size_t k = 0; k < kTile; k++) {
        *reinterpret_cast<Lanes *>(to + k * kL) = sums[k];
    }
}

ANDERSON_INLINE float leaky(float v) {
    return v > 0 ? v : kSlope * v;
}

// gradient[i][k] += sum over lanes of from[i][lane] * derivatives[lane][k], eight channels at once.
template<size_t kChannels>
ANDERSON_INLINE void
outer_product(const float *from, size_t count, const float *derivatives, float *gradient) {
    constexpr size_t kVectors = kChannels / 8;
    for (size_t i = 0; i < count; i++) {
        Eight sums[kVectors] = {};
        for (size_t lane = 0; lane < kL; lane++) {
            const float factor = from[i * kL + lane];
            for (size_t v = 0; v < kVectors; v++) {
                sums[v] += factor *
                           *reinterpret_cast<const Eight *>(derivatives + lane * kChannels + v * 8);
            }
        }
        for (size_t v = 0; v < kVectors; v++) {
            *reinterpret_cast<Eight *>(gradient + i * kChannels + v * 8) += sums[v];
        }
    }
}

template<size_t kChannels>
ANDERSON_INLINE void transpose(const float *from, float *to) {
    for (size_t c = 0; c < kChannels; c++) {
        for (size_t lane = 0; lane < kL; lane++) {
            to[lane * kChannels + c] = from[c * kL + lane];
        }
    }
}

}  // namespace

ANDERSON_CLONES
void lanes_forward(const LanesForward &in, float *head2, float *preactivations) {
    constexpr size_t kTile = 6, kTrunkTile = 8;
    for (size_t k = 0; k < kHead2; k += kTile) {
        product<kTile>(
            in.head2_filter + k, kHead2, in.head2_bias + k, in.inputs, kInputs, head2 + k * kL);
    }
    float activated[kHead2 * kL];
    for (size_t i = 0; i < kHead2 * kL; i++) {
        activated[i] = leaky(head2[i]);
    }
    for (size_t c = 0; c < kTerms; c += kTrunkTile) {
        product<kTrunkTile>(
            in.trunk_filter + c, kTerms, in.trunk + c, activated, kHead2, preactivations + c * kL);
    }
}

ANDERSON_CLONES
void lanes_backward(const LanesBackward &in, const LanesGradient &gradient) {
    float activated[kHead2 * kL], transposed[kTerms * kL], head2[kHead2 * kL];
    for (size_t i = 0; i < kHead2 * kL; i++) {
        activated[i] = leaky(in.head2[i]);
    }
    transpose<kTerms>(in.derivatives, transposed);
    std::memset(gradient.trunk, 0, kTerms * sizeof(float));
    for (size_t lane = 0; lane < kL; lane++) {
        for (size_t c = 0; c < kTerms; c++) {
            gradient.trunk[c] += transposed[lane * kTerms + c];
        }
    }
    outer_product<kTerms>(activated, kHead2, transposed, gradient.trunk_filter);
    for (size_t k = 0; k < kHead2; k++) {
        Lanes sum = {};
        for (size_t c = 0; c < kTerms; c++) {
            sum += in.trunk_filter[k * kTerms + c] *
                   *reinterpret_cast<const Lanes *>(in.derivatives + c * kL);
        }
        *reinterpret_cast<Lanes *>(head2 + k * kL) = sum;
    }
    for (size_t i = 0; i < kHead2 * kL; i++) {
        head2[i] *= in.head2[i] > 0 ? 1.0f : (in.head2[i] < 0 ? kSlope : 1.0f + kSlope);
    }
    float head2_transposed[kHead2 * kL];
    transpose<kHead2>(head2, head2_transposed);
    for (size_t lane = 0; lane < kL; lane++) {
        for (size_t k = 0; k < kHead2; k++) {
            gradient.head2_bias[k] += head2_transposed[lane * kHead2 + k];
        }
    }
    outer_product<kHead2>(in.inputs, kInputs, head2_transposed, gradient.head2_filter);
}

}  // namespace anderson2021
