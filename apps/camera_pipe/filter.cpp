// Develops the raw data of a camera and checks the GPU variants against the CPU.
#include <algorithm>
#include <array>
#include <cmath>

#include "camera_pipe_auto.h"
#include "camera_pipe_cpu.h"
#include "camera_pipe_manual.h"
#include "support/filter_app.h"

namespace {

using Matrix = std::array<std::array<float, 4>, 3>;

// Made up, but like those of real sensors: the filters overlap, and incandescent light is red.
constexpr Matrix warm = {{{1.20f, -0.15f, -0.05f, -2.0f},
                          {-0.20f, 1.35f, -0.15f, -2.0f},
                          {-0.05f, -0.55f, 1.90f, -4.0f}}};
constexpr Matrix cold = {
    {{1.60f, -0.45f, -0.15f, -4.0f}, {-0.15f, 1.30f, -0.15f, -2.0f}, {0.0f, -0.35f, 1.40f, -2.0f}}};

apps::Image<float> as_image(const Matrix &matrix) {
    apps::Image<float> image(4, 3);
    image.for_each_element([&](int x, int y) { image(x, y) = matrix[size_t(y)][size_t(x)]; });
    return image;
}

// What a sensor would have seen: one colour per pixel, proportional to the light, ten bits, and
// a few pixels that are stuck.
apps::Image<uint16_t> mosaic(const apps::Image<uint8_t> &photo, int black, int white) {
    apps::Image<uint16_t> raw(photo.width(), photo.height());
    raw.for_each_element([&](int x, int y) {
        const int colour = x % 2 == y % 2 ? 1 : y % 2 == 0 ? 0 : 2;
        const float light = std::pow(float(photo(x, y, colour)) / 255.0f, 2.2f);
        const bool stuck = (x * 7919 + y * 104729) % 10007 == 0;
        const float level = stuck ? 1.0f : light;
        raw(x, y) = uint16_t(std::lround(float(black) + level * float(white - black)));
    });
    return raw;
}

// The mosaic as one sees it without any processing.
apps::Picture unprocessed(const apps::Image<uint16_t> &raw, int white) {
    apps::Picture picture(raw.width(), raw.height(), 3);
    raw.for_each_element([&](int x, int y) {
        const int colour = x % 2 == y % 2 ? 1 : y % 2 == 0 ? 0 : 2;
        for (int c = 0; c < 3; c++) {
            picture.at(x, y, c) =
                c == colour ? uint8_t(std::min(255, raw(x, y) * 255 / white)) : uint8_t(0);
        }
    });
    return picture;
}

}  // namespace

int main(int argc, char **argv) {
    apps::FilterApp app("camera_pipe", camera_pipe_auto_metadata(), argc, argv);
    const int black = int(app.estimated_scalar("black_level"));
    const int white = int(app.estimated_scalar("white_level"));
    apps::Image<uint16_t> raw =
        mosaic(app.photo(app.output_extent(0) + 32, app.output_extent(1) + 48), black, white);
    apps::Image<float> matrix_3200 = as_image(warm), matrix_7000 = as_image(cold);
    constexpr float color_temp = 3700, gamma = 2.0f, contrast = 50, sharpen_strength = 1;

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<uint8_t>{name, [&, function](apps::Image<uint8_t> &out) {
                                          return function(raw,
                                                          matrix_3200,
                                                          matrix_7000,
                                                          color_temp,
                                                          gamma,
                                                          contrast,
                                                          sharpen_strength,
                                                          black,
                                                          white,
                                                          out);
                                      }};
    };
    // Integers, but for the tone curve: its values are rounded powers, which may differ by one
    // between devices.
    apps::Image<uint8_t> picture;
    const bool ok = app.compare<uint8_t>(
        variant("cpu", camera_pipe_cpu),
        {variant("manual", camera_pipe_manual), variant("auto", camera_pipe_auto)},
        {1, 0},
        picture);
    app.save(unprocessed(raw, white), "camera_pipe_input.png");
    app.save(apps::as_picture(picture, 255), "camera_pipe.png");
    return ok ? 0 : 1;
}
