// What the filter programs share: command line, inputs, comparison with the CPU, timing, pictures.
//
// A filter program holds several compiled variants of one pipeline (`cpu` as the reference,
// `auto` with the automatic schedule, `manual` with the hand-written one), runs them on the same
// inputs and fails unless every variant agrees with the reference within the stated tolerance.
#ifndef APPS_SUPPORT_FILTER_APP_H
#define APPS_SUPPORT_FILTER_APP_H

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "HalideBuffer.h"
#include "HalideRuntime.h"

#include "support/image_io.h"

namespace apps {

template<typename T>
using Image = Halide::Runtime::Buffer<T>;

// |value - expected| may be at most absolute + relative * |expected|. Zero means: exactly equal.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

// How two outputs differ.
struct Difference {
    double largest = 0;            // largest |value - expected|
    int64_t beyond_tolerance = 0;  // number of values further off than allowed, or NaN
};

// One compiled variant: fills the buffer and returns Halide's error code.
template<typename T>
struct Variant {
    std::string name;
    std::function<int(Image<T> &)> call;
};

class FilterApp {
public:
    // `metadata` describes the compiled pipeline; its estimates are the default sizes.
    // Prints a usage text and exits on a bad command line.
    FilterApp(std::string name, const halide_filter_metadata_t *metadata, int argc, char **argv);

    // Estimated extent of one dimension of a buffer argument.
    int estimated_extent(const std::string &argument, int dimension) const;

    // Estimate of a scalar argument.
    double estimated_scalar(const std::string &argument) const;

    // Extent of one dimension of the output: from --size, else the estimate.
    int output_extent(int dimension) const;

    // Whether --variants names this one (all by default).
    bool wanted(const std::string &variant) const;

    // The photograph of --input scaled to this size, or a synthetic one. Planar, RGB.
    Image<uint8_t> photo(int width, int height) const;
    // The same with values 0 to 1.
    Image<float> photo_as_float(int width, int height) const;

    // Brightness of that photograph, 0 to 255, as integers.
    Image<uint8_t> grey_photo(int width, int height) const;

    // Fills with pseudo-random numbers between -1 and 1 that depend on --seed and `salt` only.
    void fill_random(Image<float> &image, uint32_t salt) const;

    // Writes <output folder>/<name> if --output was given.
    void save(const Picture &picture, const std::string &file_name) const;

    // An empty output whose lower bounds are the estimated ones.
    template<typename T>
    Image<T> make_output() const;

    // Runs `reference` and then the wanted ones of `variants`, prints one line for each, and
    // returns true if all agree. `result` receives the output of the last variant (or of the
    // reference if none was wanted), on the host.
    template<typename T>
    bool compare(const Variant<T> &reference,
                 const std::vector<Variant<T>> &variants,
                 Tolerance tolerance,
                 Image<T> &result);

private:
    std::string name_;
    const halide_filter_metadata_t *metadata_;
    std::vector<int> size_;
    std::vector<std::string> variants_;
    std::string input_path_;
    std::string output_folder_;
    uint32_t seed_ = 1;
    int runs_ = 0;

    const halide_filter_argument_t &argument(const std::string &name) const;
    const halide_filter_argument_t &output_argument() const;
    void parse(int argc, char **argv);
    void report(const std::string &variant, const Difference &difference, Tolerance tolerance);
    void report_time(const std::string &variant, const std::function<void()> &call) const;
    [[noreturn]] void fail(const std::string &reason) const;
};

template<typename T>
Difference difference(const Image<T> &expected, const Image<T> &actual, Tolerance tolerance) {
    Difference result;
    expected.for_each_element([&](const int *position) {
        const double want = double(expected(position)), have = double(actual(position));
        const double off = std::fabs(have - want);
        result.largest = off > result.largest || std::isnan(off) ? off : result.largest;
        if (!(off <= tolerance.absolute + tolerance.relative * std::fabs(want))) {
            result.beyond_tolerance++;
        }
    });
    return result;
}

// Values 0 to `white` of a buffer of one (grey) or three channels as a picture.
template<typename T>
Picture as_picture(const Image<T> &image, double white) {
    const int left = image.dim(0).min(), top = image.dim(1).min();
    Picture picture(image.width(), image.height(), image.dimensions() == 2 ? 1 : 3);
    for (int y = 0; y < picture.height; y++) {
        for (int x = 0; x < picture.width; x++) {
            for (int c = 0; c < picture.channels; c++) {
                const double value = double(picture.channels == 1 ? image(x + left, y + top)
                                                                  : image(x + left, y + top, c));
                const double scaled = value * 255.0 / white + 0.5;
                picture.at(x, y, c) = uint8_t(scaled < 0 ? 0 : scaled > 255 ? 255 : scaled);
            }
        }
    }
    return picture;
}

template<typename T>
Image<T> FilterApp::make_output() const {
    const halide_filter_argument_t &output = output_argument();
    std::vector<int> extents;
    for (int d = 0; d < output.dimensions; d++) {
        extents.push_back(output_extent(d));
    }
    Image<T> image(extents);
    for (int d = 0; d < output.dimensions; d++) {
        image.translate(d, int(*output.buffer_estimates[2 * d]));
    }
    return image;
}

template<typename T>
bool FilterApp::compare(const Variant<T> &reference,
                        const std::vector<Variant<T>> &variants,
                        Tolerance tolerance,
                        Image<T> &result) {
    Image<T> expected = make_output<T>();
    if (reference.call(expected) != 0) {
        fail("the variant " + reference.name + " stopped with an error");
    }
    expected.copy_to_host();
    result = expected;
    bool all_agree = true;
    for (const Variant<T> &variant : variants) {
        if (!wanted(variant.name)) {
            continue;
        }
        // Filled with something that no pipeline computes, so that skipped pixels are noticed.
        Image<T> actual = make_output<T>();
        actual.fill(std::numeric_limits<T>::max());
        if (variant.call(actual) != 0) {
            fail("the variant " + variant.name + " stopped with an error");
        }
        actual.copy_to_host();
        const Difference found = difference<T>(expected, actual, tolerance);
        report(variant.name, found, tolerance);
        all_agree = all_agree && found.beyond_tolerance == 0;
        report_time(variant.name, [&] {
            variant.call(actual);
            actual.device_sync();
        });
        actual.copy_to_host();
        result = actual;
    }
    report_time(reference.name, [&] { reference.call(expected); });
    return all_agree;
}

}  // namespace apps

#endif
