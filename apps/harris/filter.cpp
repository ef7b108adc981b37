// Finds corners of a photograph, checks the GPU variants against the CPU and marks the corners.
#include <algorithm>

#include "harris_auto.h"
#include "harris_cpu.h"
#include "harris_manual.h"
#include "support/filter_app.h"

namespace {

// Radius, in pixels, of the neighbourhood in which a corner is the strongest one.
constexpr int neighbourhood = 6;

bool is_local_maximum(const apps::Image<float> &response, int x, int y) {
    for (int v = y - neighbourhood; v <= y + neighbourhood; v++) {
        for (int u = x - neighbourhood; u <= x + neighbourhood; u++) {
            if (response(u, v) > response(x, y)) {
                return false;
            }
        }
    }
    return true;
}

// The photograph, dimmed and grey, with a red square at every clear corner.
apps::Picture marked_corners(const apps::Image<float> &photo, const apps::Image<float> &response) {
    apps::Picture picture(response.width(), response.height(), 3);
    const int left = response.dim(0).min(), top = response.dim(1).min();
    float strongest = 0;
    response.for_each_value([&](float value) { strongest = std::max(strongest, value); });
    for (int y = 0; y < picture.height; y++) {
        for (int x = 0; x < picture.width; x++) {
            const float grey = (photo(x + left, y + top, 0) + photo(x + left, y + top, 1) +
                                photo(x + left, y + top, 2)) /
                               3;
            for (int c = 0; c < 3; c++) {
                picture.at(x, y, c) = uint8_t(grey * 180.0f);
            }
        }
    }
    for (int y = neighbourhood; y < picture.height - neighbourhood; y++) {
        for (int x = neighbourhood; x < picture.width - neighbourhood; x++) {
            if (response(x + left, y + top) < 0.01f * strongest ||
                !is_local_maximum(response, x + left, y + top)) {
                continue;
            }
            for (int v = -2; v <= 2; v++) {
                for (int u = -2; u <= 2; u++) {
                    picture.at(x + u, y + v, 0) = 255;
                    picture.at(x + u, y + v, 1) = picture.at(x + u, y + v, 2) = 30;
                }
            }
        }
    }
    return picture;
}

}  // namespace

int main(int argc, char **argv) {
    apps::FilterApp app("harris", harris_auto_metadata(), argc, argv);
    apps::Image<float> photo =
        app.photo_as_float(app.output_extent(0) + 6, app.output_extent(1) + 6);

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{
            name, [&photo, function](apps::Image<float> &out) { return function(photo, out); }};
    };
    apps::Image<float> response;
    const bool ok =
        app.compare<float>(variant("cpu", harris_cpu),
                           {variant("manual", harris_manual), variant("auto", harris_auto)},
                           {1e-6, 0},
                           response);
    app.save(marked_corners(photo, response), "harris.png");
    return ok ? 0 : 1;
}
