// PNM reader, PNG writer (stored deflate blocks), resampling and the synthetic photograph.
#include "support/image_io.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <random>
#include <stdexcept>

namespace apps {

namespace {

// Skips white space and comments between the fields of a PNM header.
int read_header_field(std::istream &in) {
    while (in >> std::ws && in.peek() == '#') {
        std::string comment;
        std::getline(in, comment);
    }
    int value = -1;
    in >> value;
    return value;
}

uint32_t crc32(const std::string &bytes) {
    static const std::array<uint32_t, 256> table = [] {
        std::array<uint32_t, 256> result{};
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++) {
                value = (value >> 1) ^ ((value & 1) ? 0xedb88320u : 0u);
            }
            result[i] = value;
        }
        return result;
    }();
    uint32_t crc = 0xffffffffu;
    for (const char byte : bytes) {
        crc = table[(crc ^ uint8_t(byte)) & 0xff] ^ (crc >> 8);
    }
    return crc ^ 0xffffffffu;
}

void append_big_endian(std::string &to, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        to += char((value >> shift) & 0xff);
    }
}

void write_chunk(std::ostream &out, const std::string &type, const std::string &body) {
    std::string length, checksum;
    append_big_endian(length, uint32_t(body.size()));
    append_big_endian(checksum, crc32(type + body));
    out << length << type << body << checksum;
}

// zlib stream that stores `raw` without compressing it.
std::string stored_zlib(const std::string &raw) {
    constexpr size_t block_limit = 65535;
    std::string result = "\x78\x01";
    size_t begin = 0;
    do {
        const size_t length = std::min(block_limit, raw.size() - begin);
        const bool last = begin + length == raw.size();
        result += char(last ? 1 : 0);
        for (const size_t field : {length, ~length}) {
            result += char(field & 0xff);
            result += char((field >> 8) & 0xff);
        }
        result.append(raw, begin, length);
        begin += length;
    } while (begin < raw.size());

    uint32_t low = 1, high = 0;
    for (const char byte : raw) {
        low = (low + uint8_t(byte)) % 65521;
        high = (high + low) % 65521;
    }
    append_big_endian(result, (high << 16) | low);
    return result;
}

}  // namespace

Picture::Picture(int picture_width, int picture_height, int picture_channels)
    : width(picture_width), height(picture_height), channels(picture_channels),
      pixels(size_t(picture_width) * size_t(picture_height) * size_t(picture_channels)) {}

Picture read_pnm(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error(path + ": cannot be opened");
    }
    std::string magic(2, ' ');
    in.read(magic.data(), 2);
    if (magic != "P5" && magic != "P6") {
        throw std::runtime_error(path + ": not a binary PGM or PPM file");
    }
    const int width = read_header_field(in);
    const int height = read_header_field(in);
    const int maximum = read_header_field(in);
    if (!in || width <= 0 || height <= 0 || maximum != 255) {
        throw std::runtime_error(path + ": unusable header (size must be positive, maximum 255)");
    }
    in.get();  // the single blank after the header
    Picture picture(width, height, magic == "P5" ? 1 : 3);
    in.read(reinterpret_cast<char *>(picture.pixels.data()),
            std::streamsize(picture.pixels.size()));
    if (!in) {
        throw std::runtime_error(path + ": truncated");
    }
    return picture;
}

void write_png(const Picture &picture, const std::string &path) {
    std::ofstream out(path, std::ios::binary);
    std::string header;
    append_big_endian(header, uint32_t(picture.width));
    append_big_endian(header, uint32_t(picture.height));
    header += char(8);                              // bits per sample
    header += char(picture.channels == 1 ? 0 : 2);  // grey or RGB
    header.append(3, '\0');                         // deflate, adaptive filters, no interlacing

    std::string rows;
    const size_t stride = size_t(picture.width) * size_t(picture.channels);
    for (int y = 0; y < picture.height; y++) {
        rows += '\0';  // row filter: none
        rows.append(reinterpret_cast<const char *>(&picture.pixels[size_t(y) * stride]), stride);
    }
    out << "\x89PNG\r\n\x1a\n";
    write_chunk(out, "IHDR", header);
    write_chunk(out, "IDAT", stored_zlib(rows));
    write_chunk(out, "IEND", "");
    if (!out.flush()) {
        throw std::runtime_error(path + ": cannot be written");
    }
}

Picture resized(const Picture &picture, int width, int height) {
    Picture result(width, height, picture.channels);
    const double scale = std::min(double(picture.width) / width, double(picture.height) / height);
    const auto source = [scale](int position, int size, int source_size) {
        const double centre = (position + 0.5 - size * 0.5) * scale + source_size * 0.5 - 0.5;
        return std::min(std::max(centre, 0.0), double(source_size - 1));
    };
    for (int y = 0; y < height; y++) {
        const double sy = source(y, height, picture.height);
        const int y0 = int(sy), y1 = std::min(y0 + 1, picture.height - 1);
        for (int x = 0; x < width; x++) {
            const double sx = source(x, width, picture.width);
            const int x0 = int(sx), x1 = std::min(x0 + 1, picture.width - 1);
            for (int c = 0; c < picture.channels; c++) {
                const auto row = [&](int sample_y) {
                    return picture.at(x0, sample_y, c) * (x0 + 1 - sx) +
                           picture.at(x1, sample_y, c) * (sx - x0);
                };
                result.at(x, y, c) =
                    uint8_t(std::lround(row(y0) * (y0 + 1 - sy) + row(y1) * (sy - y0)));
            }
        }
    }
    return result;
}

Picture synthetic_photo(int width, int height, uint32_t seed) {
    Picture picture(width, height, 3);
    std::mt19937 random(seed);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const bool checker = ((x / 23) + (y / 17)) % 2 == 0;
            const double shade = 0.5 + 0.5 * std::sin(x * 0.013) * std::cos(y * 0.009);
            for (int c = 0; c < 3; c++) {
                const double base = checker ? 200.0 * shade : 40.0 + 50.0 * c * (1 - shade);
                picture.at(x, y, c) = uint8_t(base + double(random() % 16));
            }
        }
    }
    return picture;
}

}  // namespace apps
