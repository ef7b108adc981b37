// Calls the scheduled blur and compares with the same arithmetic in plain loops.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "HalideBuffer.h"

#include "blur.h"

int main() {
    const int width = 317, height = 203;
    Halide::Runtime::Buffer<uint16_t, 2> input(width, height), output(width, height);
    input.for_each_element([&](int x, int y) { input(x, y) = (x * 7 + y * y * 13) % 1021; });
    input.set_host_dirty();
    if (blur(input, output) != 0) {
        return 1;
    }
    output.copy_to_host();

    auto at = [&](int x, int y) -> int {
        return input(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
    };
    auto row = [&](int x, int y) { return (at(x - 1, y) + at(x, y) + at(x + 1, y)) / 3; };
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const int want = (row(x, y - 1) + row(x, y) + row(x, y + 1)) / 3;
            if (output(x, y) != want) {
                std::printf("wrong at %d, %d: %d instead of %d\n", x, y, output(x, y), want);
                return 1;
            }
        }
    }
    std::printf("%d x %d values are right\n", width, height);
    return 0;
}
