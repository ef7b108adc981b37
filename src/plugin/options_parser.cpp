#include "plugin/options_parser.h"

#include <cstdlib>
#include <set>
#include <sstream>
#include <type_traits>
#include <utility>

#include "support/error.h"

namespace anderson2021 {

namespace {

constexpr const char *kPrefix = "autoscheduler.";

// A number must fill the whole text, leading blanks aside, as in stream extraction.
template<typename T>
bool parse_number(const std::string &text, T *value) {
    std::istringstream stream(text);
    stream >> *value;
    return !stream.fail() && stream.peek() == std::istringstream::traits_type::eof();
}

struct Range {
    double min = 0, max = 0;
    std::string text;
};

template<typename T>
Range make_range(T min, T max) {
    std::ostringstream text;
    text << "from " << min << " to " << max;
    return {static_cast<double>(min), static_cast<double>(max), text.str()};
}

void set_value(const std::string &label,
               const std::string &text,
               const Range &,
               std::string *value) {
    if (text.empty()) {
        throw UserError(label + " has an empty value. Give a value or leave the option out.");
    }
    *value = text;
}

template<typename T>
void set_value(const std::string &label, const std::string &text, const Range &range, T *value) {
    const char *kind = std::is_integral<T>::value ? "an integer" : "a number";
    T parsed{};
    const bool in_range = parse_number(text, &parsed) && static_cast<double>(parsed) >= range.min &&
                          static_cast<double>(parsed) <= range.max;
    if (!in_range) {
        throw UserError(label + " has the value \"" + text + "\". It must be " + kind + " " +
                        range.text + ".");
    }
    *value = parsed;
}

void check_search_space(const std::string &label, const std::string &value) {
    for (size_t i = 0; i < value.size() && i < 4; i++) {
        if (value[i] != '0' && value[i] != '1') {
            throw UserError(label + " has the value \"" + value +
                            "\". It must consist of up to four characters 0 or 1.");
        }
    }
}

std::string valid_names() {
    std::string names;
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    names += std::string(names.empty() ? "" : ", ") + #name;
#include "support/options.def"
#undef ANDERSON_OPTION
    return names;
}

GpuDevice find_device(const std::string &label, const std::string &name) {
    std::optional<GpuDevice> device = find_gpu_device(name);
    if (!device) {
        std::string names;
        for (const std::string &known : gpu_device_names()) {
            names += (names.empty() ? "" : ", ") + known;
        }
        throw UserError(label + " has the value \"" + name + "\". Known GPUs: " + names + ".");
    }
    return std::move(*device);
}

int64_t to_kib(int64_t bytes) {
    return bytes / 1024;
}

// Sets the options that `given` lacks to the figures of the GPU.
void apply_gpu(const std::set<std::string> &given, int compute_capability, Options *options) {
    const auto set = [&](const char *name, int64_t Options::*option, int64_t value) {
        if (given.count(name) == 0) {
            options->*option = value;
        }
    };
    std::optional<GpuDevice> device;
    if (!options->gpu.empty()) {
        device = find_device(std::string("Option ") + kPrefix + "gpu", options->gpu);
        set("parallelism", &Options::parallelism, device->num_sms);
        set("shared_memory_limit_kb",
            &Options::shared_memory_limit_kb,
            to_kib(device->shared_bytes_per_block));
    } else {
        device = find_gpu_of_capability(compute_capability);
    }
    if (device) {
        set("shared_memory_sm_limit_kb",
            &Options::shared_memory_sm_limit_kb,
            to_kib(device->shared_bytes_per_sm));
        set("active_block_limit", &Options::active_block_limit, device->max_blocks_per_sm);
        set("active_warp_limit", &Options::active_warp_limit, device->max_warps_per_sm);
    }
}

bool is_option(const std::string &key) {
    bool found = false;
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    found = found || key == #name;
#include "support/options.def"
#undef ANDERSON_OPTION
    return found;
}

}  // namespace

Environment process_environment() {
    return [](const std::string &name) -> std::optional<std::string> {
        const char *value = std::getenv(name.c_str());
        if (value == nullptr) {
            return std::nullopt;
        }
        return std::string(value);
    };
}

Options parse_options(const std::map<std::string, std::string> &parameters,
                      const Environment &environment,
                      int compute_capability) {
    for (const auto &parameter : parameters) {
        if (!is_option(parameter.first)) {
            throw UserError("Anderson2021 has no option " + std::string(kPrefix) + parameter.first +
                            ". Options: " + valid_names() + ".");
        }
    }
    Options options;
    std::string label, variable;
    std::set<std::string> given_names;
#define ANDERSON_OPTION(type, name, default_value, min, max, env_name, meaning)                    \
    variable = env_name;                                                                           \
    if (const auto given = parameters.find(#name); given != parameters.end()) {                    \
        label = std::string("Option ") + kPrefix + #name;                                          \
        set_value(label, given->second, make_range(min, max), &options.name);                      \
        given_names.insert(#name);                                                                 \
    } else if (!variable.empty()) {                                                                \
        /* An empty variable counts as unset. */                                                   \
        if (const auto value = environment(variable); value && !value->empty()) {                  \
            label = "Environment variable " + variable;                                            \
            set_value(label, *value, make_range(min, max), &options.name);                         \
            given_names.insert(#name);                                                             \
        }                                                                                          \
    }
#include "support/options.def"
#undef ANDERSON_OPTION
    check_search_space(parameters.count("search_space_options") != 0
                           ? "Option autoscheduler.search_space_options"
                           : "Environment variable HL_SEARCH_SPACE_OPTIONS",
                       options.search_space_options);
    apply_gpu(given_names, compute_capability, &options);
    return options;
}

std::string describe_options(const Options &options) {
    std::ostringstream text;
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    text << "Anderson2021Params." #name ":" << options.name << "\n";
#include "support/options.def"
#undef ANDERSON_OPTION
    return text.str();
}

std::string options_table() {
    std::ostringstream text;
    text << "| Option | Default | Environment | Meaning |\n|---|---|---|---|\n";
    const Options defaults;
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    text << "| `" #name "` | " << defaults.name << " | " << environment << " | " << meaning        \
         << " |\n";
#include "support/options.def"
#undef ANDERSON_OPTION
    return text.str();
}

std::string gpus_table() {
    std::ostringstream text;
    text << "| Name | GPU | Compute capability | Multiprocessors | Blocks | Warps | Registers "
            "| Shared memory, KiB | per block, KiB | Threads per block |\n"
            "|---|---|---|---|---|---|---|---|---|---|\n";
    const auto known = [](int64_t figure, const std::string &digits) {
        return figure == 0 ? std::string("-") : digits;
    };
    for (const std::string &name : gpu_device_names()) {
        const GpuDevice d = find_device("", name);
        const std::string capability = std::to_string(d.compute_capability / 10) + "." +
                                       std::to_string(d.compute_capability % 10);
        text << "| `" << d.name << "` | " << d.title << " | "
             << known(d.compute_capability, capability) << " | " << d.num_sms << " | "
             << d.max_blocks_per_sm << " | " << d.max_warps_per_sm << " | "
             << known(d.registers_per_sm, std::to_string(d.registers_per_sm)) << " | "
             << to_kib(d.shared_bytes_per_sm) << " | " << to_kib(d.shared_bytes_per_block) << " | "
             << d.max_threads_per_block << " |\n";
    }
    return text.str();
}

GpuDevice device_from_options(const Options &options) {
    GpuDevice device = options.gpu.empty() ? GpuDevice() : find_device("Option gpu", options.gpu);
    device.num_sms = static_cast<int>(options.parallelism);
    device.shared_bytes_per_block = options.shared_memory_limit_kb * 1024;
    device.shared_bytes_per_sm = options.shared_memory_sm_limit_kb * 1024;
    device.max_blocks_per_sm = static_cast<int>(options.active_block_limit);
    device.max_warps_per_sm = static_cast<int>(options.active_warp_limit);
    return device;
}

}  // namespace anderson2021
