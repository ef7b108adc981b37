// Autoschedules the pipeline of a generator without compiling it.
//
//   <program> PLUGIN GENERATOR TARGET OUTPUT [option=value ...]
//
// Linked with the source of a generator instead of Halide's own main program, which goes on to
// lower the pipeline before it writes anything: schedules that cannot be lowered would be lost.
// Writes the featurization into the file OUTPUT.
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "Halide.h"

namespace {

std::vector<uint8_t> featurization(const std::string &plugin,
                                   const std::string &generator_name,
                                   const Halide::Target &target,
                                   const std::map<std::string, std::string> &options) {
    Halide::load_plugin(plugin);
    const Halide::AutoschedulerParams parameters("Anderson2021", options);
    // With parameters here the generator knows that it must not schedule by itself.
    const Halide::GeneratorContext context(target, parameters);
    const auto generator = Halide::Internal::GeneratorRegistry::create(generator_name, context);
    if (!generator) {
        throw std::runtime_error("there is no generator " + generator_name);
    }
    return generator->build_pipeline().apply_autoscheduler(target, parameters).featurization;
}

int run(int argc, char **argv) {
    if (argc < 5) {
        std::cerr << "usage: " << argv[0] << " PLUGIN GENERATOR TARGET OUTPUT [option=value ...]\n";
        return 1;
    }
    std::map<std::string, std::string> options;
    for (int i = 5; i < argc; i++) {
        const std::string option = argv[i];
        const size_t split = option.find('=');
        options[option.substr(0, split)] =
            split == std::string::npos ? "" : option.substr(split + 1);
    }
    const auto blob = featurization(argv[1], argv[2], Halide::Target(argv[3]), options);
    std::ofstream file(argv[4], std::ios::binary);
    file.write(reinterpret_cast<const char *>(blob.data()),
               static_cast<std::streamsize>(blob.size()));
    return file.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
