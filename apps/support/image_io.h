// Pictures on disk without any library: reads binary PNM (P5, P6; 8 bits), writes PNG.
// PNG files are written uncompressed; any viewer or converter takes them.
#ifndef APPS_SUPPORT_IMAGE_IO_H
#define APPS_SUPPORT_IMAGE_IO_H

#include <cstdint>
#include <string>
#include <vector>

namespace apps {

// Interleaved 8-bit pixels, row by row from the top. `channels` is 1 (grey) or 3 (RGB).
struct Picture {
    int width = 0;
    int height = 0;
    int channels = 3;
    std::vector<uint8_t> pixels;

    Picture() = default;
    Picture(int picture_width, int picture_height, int picture_channels);

    uint8_t &at(int x, int y, int c) { return pixels[index(x, y, c)]; }
    uint8_t at(int x, int y, int c) const { return pixels[index(x, y, c)]; }

private:
    size_t index(int x, int y, int c) const {
        return (size_t(y) * size_t(width) + size_t(x)) * size_t(channels) + size_t(c);
    }
};

// Throws std::runtime_error, naming the file and the reason.
Picture read_pnm(const std::string &path);
void write_png(const Picture &picture, const std::string &path);

// Bilinear resampling to the given size, in pixels. The middle of the picture is used as far as
// the proportions need it.
Picture resized(const Picture &picture, int width, int height);

// A picture with smooth shades, sharp edges, dark and bright areas, and grain, in RGB. The same
// for every call with the same arguments.
Picture synthetic_photo(int width, int height, uint32_t seed);

}  // namespace apps

#endif
