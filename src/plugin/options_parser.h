// From the strings that a user passes to the Options of a run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "device/gpu_device.h"
#include "support/options.h"

namespace anderson2021 {

/// Looks up an environment variable; nothing if it is unset.
using Environment = std::function<std::optional<std::string>(const std::string &name)>;
/// The process environment.
Environment process_environment();

/// Options from the autoscheduler parameters, with defaults from the environment.
///
/// A value has to be consumed completely: trailing characters, overflow, a value out of range and
/// the empty string are errors. Throws UserError that names the option (or variable), the value
/// and what is accepted; for an unknown name it lists the valid ones.
Options parse_options(const std::map<std::string, std::string> &parameters,
                      const Environment &environment);

/// One line `Anderson2021Params.<name>:<value>` per option, in table order.
std::string describe_options(const Options &options);
/// The options as a Markdown table: name, default, environment variable, meaning.
std::string options_table();
/// The V100 with the limits that the options give.
GpuDevice device_from_options(const Options &options);

}  // namespace anderson2021
