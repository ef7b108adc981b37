// Removes noise from a photograph and checks the GPU variants against the CPU.
#include <algorithm>

#include "nl_means_auto.h"
#include "nl_means_cpu.h"
#include "nl_means_manual.h"
#include "support/filter_app.h"

int main(int argc, char **argv) {
    apps::FilterApp app("nl_means", nl_means_auto_metadata(), argc, argv);
    apps::Image<float> photo = app.photo_as_float(app.output_extent(0), app.output_extent(1));
    apps::Image<float> noise(photo.width(), photo.height(), 3);
    app.fill_random(noise, 1);
    photo.for_each_element([&](int x, int y, int c) {
        const float noisy = photo(x, y, c) + 0.15f * noise(x, y, c);
        photo(x, y, c) = std::min(std::max(noisy, 0.0f), 1.0f);
    });
    const int patch_size = int(app.estimated_scalar("patch_size"));
    const int search_area = int(app.estimated_scalar("search_area"));
    const float sigma = float(app.estimated_scalar("sigma"));

    const auto variant = [&](const char *name, auto function) {
        return apps::Variant<float>{name, [&, function](apps::Image<float> &out) {
                                        return function(photo, patch_size, search_area, sigma, out);
                                    }};
    };
    apps::Image<float> clean;
    const bool ok =
        app.compare<float>(variant("cpu", nl_means_cpu),
                           {variant("manual", nl_means_manual), variant("auto", nl_means_auto)},
                           {1e-5, 0},
                           clean);
    app.save(apps::as_picture(photo, 1), "nl_means_input.png");
    app.save(apps::as_picture(clean, 1), "nl_means.png");
    return ok ? 0 : 1;
}
