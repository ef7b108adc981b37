// Blurs a photograph with the scheduled pipeline and compares with the same arithmetic in plain
// loops. usage: run_soft_blur PHOTO.ppm OUT.pgm
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "HalideBuffer.h"

#include "soft_blur.h"

using Picture = Halide::Runtime::Buffer<uint8_t, 2>;

namespace {

constexpr int kRadius = 8;

// The brightness of a binary PPM file.
Picture read_photo(const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::string kind;
    int width = 0, height = 0, largest = 0;
    file >> kind >> width >> height >> largest;
    file.get();
    if (!file || kind != "P6" || largest != 255 || width < 1 || height < 1) {
        std::cerr << path << " is no binary PPM file\n";
        std::exit(1);
    }
    Picture picture(width, height);
    std::vector<char> row(static_cast<size_t>(width) * 3);
    for (int y = 0; y < height && file.read(row.data(), static_cast<std::streamsize>(row.size()));
         y++) {
        for (int x = 0; x < width; x++) {
            const auto *rgb = reinterpret_cast<const uint8_t *>(&row[static_cast<size_t>(x) * 3]);
            picture(x, y) = static_cast<uint8_t>((rgb[0] * 3 + rgb[1] * 6 + rgb[2]) / 10);
        }
    }
    if (!file) {
        std::cerr << path << " ends too early\n";
        std::exit(1);
    }
    return picture;
}

// Mean of a row or column of pixels around each pixel.
std::vector<double>
blurred(const std::vector<double> &values, int width, int height, bool along_row) {
    std::vector<double> result(values.size());
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            double sum = 0;
            for (int d = -kRadius; d <= kRadius; d++) {
                const int from_x = std::clamp(along_row ? x + d : x, 0, width - 1);
                const int from_y = std::clamp(along_row ? y : y + d, 0, height - 1);
                sum += values[static_cast<size_t>(from_y) * width + from_x];
            }
            result[static_cast<size_t>(y) * width + x] = sum / (2 * kRadius + 1);
        }
    }
    return result;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        std::cerr << "usage: run_soft_blur PHOTO.ppm OUT.pgm\n";
        return 1;
    }
    Picture input = read_photo(argv[1]);
    const int width = input.width(), height = input.height();
    Picture output(width, height);
    input.set_host_dirty();
    if (soft_blur(input, output) != 0 || output.copy_to_host() != 0) {
        return 1;
    }

    std::vector<double> want(static_cast<size_t>(width) * height);
    input.for_each_element(
        [&](int x, int y) { want[static_cast<size_t>(y) * width + x] = input(x, y); });
    want = blurred(blurred(want, width, height, true), width, height, false);
    double worst = 0;
    output.for_each_element([&](int x, int y) {
        worst = std::max(worst, std::abs(output(x, y) - want[static_cast<size_t>(y) * width + x]));
    });
    std::ofstream file(argv[2], std::ios::binary);
    file << "P5\n" << width << " " << height << "\n255\n";
    file.write(reinterpret_cast<const char *>(output.data()),
               static_cast<std::streamsize>(output.size_in_bytes()));
    file.close();
    // Half of it is rounding to bytes.
    const bool right = file && worst < 0.51;
    std::cout << width << " x " << height << " pixels, " << (right ? "all right" : "some wrong")
              << "\n";
    return right ? 0 : 1;
}
