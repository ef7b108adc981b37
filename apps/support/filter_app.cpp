// Command line, inputs and reports of the filter programs.
#include "support/filter_app.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace apps {

namespace {

constexpr const char *usage_text =
    "options:\n"
    "  --size AxBx...       extents of the output, innermost first (default: the estimates)\n"
    "  --variants a,b       which of auto, manual to run (default: both)\n"
    "  --runs N             time each variant N times (default 0: no timing)\n"
    "  --seed N             seed of the synthetic inputs (default 1)\n"
    "  --input photo.ppm    photograph to use, scaled to the needed size\n"
    "  --output FOLDER      write the pictures there as PNG\n";

std::vector<std::string> pieces(const std::string &text, char separator) {
    std::vector<std::string> result;
    std::istringstream in(text);
    for (std::string piece; std::getline(in, piece, separator);) {
        result.push_back(piece);
    }
    return result;
}

int parse_int(const std::string &text, int minimum) {
    size_t used = 0;
    const int value = std::stoi(text, &used);
    if (used != text.size() || value < minimum) {
        throw std::invalid_argument(text);
    }
    return value;
}

// A failing pipeline ends the program with its message instead of a core dump.
void stop_on_error(void *, const char *message) {
    std::fprintf(stderr, "pipeline error: %s\n", message);
    std::exit(1);
}

}  // namespace

FilterApp::FilterApp(std::string name,
                     const halide_filter_metadata_t *metadata,
                     int argc,
                     char **argv)
    : name_(std::move(name)), metadata_(metadata) {
    halide_set_error_handler(stop_on_error);
    try {
        parse(argc, argv);
    } catch (const std::exception &) {
        fail("bad command line");
    }
    if (size_.size() > size_t(output_argument().dimensions)) {
        fail("--size has more numbers than the output has dimensions");
    }
}

void FilterApp::parse(int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        if (i + 1 == argc) {
            throw std::invalid_argument(option);
        }
        const std::string value = argv[i + 1];
        if (option == "--size") {
            for (const std::string &extent : pieces(value, 'x')) {
                size_.push_back(parse_int(extent, 1));
            }
        } else if (option == "--variants") {
            variants_ = pieces(value, ',');
        } else if (option == "--runs") {
            runs_ = parse_int(value, 0);
        } else if (option == "--seed") {
            seed_ = uint32_t(parse_int(value, 0));
        } else if (option == "--input") {
            input_path_ = value;
        } else if (option == "--output") {
            output_folder_ = value;
        } else {
            throw std::invalid_argument(option);
        }
    }
}

void FilterApp::fail(const std::string &reason) const {
    std::fprintf(stderr, "%s: %s\n%s", name_.c_str(), reason.c_str(), usage_text);
    std::exit(1);
}

const halide_filter_argument_t &FilterApp::argument(const std::string &name) const {
    for (int i = 0; i < metadata_->num_arguments; i++) {
        if (name == metadata_->arguments[i].name) {
            return metadata_->arguments[i];
        }
    }
    fail("the pipeline has no argument " + name);
}

const halide_filter_argument_t &FilterApp::output_argument() const {
    return metadata_->arguments[metadata_->num_arguments - 1];
}

int FilterApp::estimated_extent(const std::string &name, int dimension) const {
    return int(*argument(name).buffer_estimates[2 * dimension + 1]);
}

double FilterApp::estimated_scalar(const std::string &name) const {
    const halide_filter_argument_t &scalar = argument(name);
    const halide_scalar_value_t *value = scalar.scalar_estimate;
    if (value == nullptr) {
        fail("the argument " + name + " has no estimate");
    }
    if (scalar.type == halide_type_of<float>()) {
        return value->u.f32;
    }
    if (scalar.type == halide_type_of<int32_t>()) {
        return value->u.i32;
    }
    fail("the argument " + name + " has a type that is not supported");
}

int FilterApp::output_extent(int dimension) const {
    return size_t(dimension) < size_.size()
               ? size_[size_t(dimension)]
               : int(*output_argument().buffer_estimates[2 * dimension + 1]);
}

bool FilterApp::wanted(const std::string &variant) const {
    return variants_.empty() ||
           std::find(variants_.begin(), variants_.end(), variant) != variants_.end();
}

Image<uint8_t> FilterApp::photo(int width, int height) const {
    Picture picture;
    if (input_path_.empty()) {
        picture = synthetic_photo(width, height, seed_);
    } else {
        try {
            picture = read_pnm(input_path_);
        } catch (const std::exception &error) {
            fail(error.what());
        }
        if (picture.width != width || picture.height != height) {
            picture = resized(picture, width, height);
        }
    }
    Image<uint8_t> image(width, height, 3);
    image.for_each_element(
        [&](int x, int y, int c) { image(x, y, c) = picture.at(x, y, c % picture.channels); });
    return image;
}

Image<float> FilterApp::photo_as_float(int width, int height) const {
    const Image<uint8_t> bytes = photo(width, height);
    Image<float> image(width, height, 3);
    image.for_each_element(
        [&](int x, int y, int c) { image(x, y, c) = float(bytes(x, y, c)) / 255.0f; });
    return image;
}

Image<uint8_t> FilterApp::grey_photo(int width, int height) const {
    const Image<uint8_t> colours = photo(width, height);
    Image<uint8_t> image(width, height);
    image.for_each_element([&](int x, int y) {
        image(x, y) = uint8_t(
            (77 * colours(x, y, 0) + 150 * colours(x, y, 1) + 29 * colours(x, y, 2) + 128) >> 8);
    });
    return image;
}

void FilterApp::fill_random(Image<float> &image, uint32_t salt) const {
    std::mt19937 random(seed_ * 7919u + salt);
    image.for_each_value(
        [&](float &value) { value = float(random() >> 8) / float(1 << 23) - 1.0f; });
    image.set_host_dirty();
}

void FilterApp::save(const Picture &picture, const std::string &file_name) const {
    if (output_folder_.empty()) {
        return;
    }
    const std::string path = output_folder_ + "/" + file_name;
    try {
        write_png(picture, path);
    } catch (const std::exception &error) {
        fail(error.what());
    }
    std::printf("%s: wrote %s\n", name_.c_str(), path.c_str());
}

void FilterApp::report(const std::string &variant,
                       const Difference &difference,
                       Tolerance tolerance) {
    std::string allowed = "must be equal";
    if (tolerance.absolute > 0 || tolerance.relative > 0) {
        std::ostringstream text;
        text << "tolerance " << tolerance.absolute << " + " << tolerance.relative << " * |value|";
        allowed = text.str();
    }
    std::printf("%s: %s against cpu: max_abs_diff=%g (%s): %s\n",
                name_.c_str(),
                variant.c_str(),
                difference.largest,
                allowed.c_str(),
                difference.beyond_tolerance == 0 ? "OK" : "FAILED");
    if (difference.beyond_tolerance > 0) {
        std::printf("%s: %s: %lld values differ by more than the tolerance\n",
                    name_.c_str(),
                    variant.c_str(),
                    static_cast<long long>(difference.beyond_tolerance));
    }
    std::fflush(stdout);
}

void FilterApp::report_time(const std::string &variant, const std::function<void()> &call) const {
    if (runs_ == 0) {
        return;
    }
    std::vector<double> milliseconds;
    for (int i = 0; i < runs_; i++) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - begin;
        milliseconds.push_back(passed.count());
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    std::printf("%s: %s: median_ms=%.4f min_ms=%.4f runs=%d\n",
                name_.c_str(),
                variant.c_str(),
                milliseconds[milliseconds.size() / 2],
                milliseconds.front(),
                runs_);
    std::fflush(stdout);
}

}  // namespace apps
