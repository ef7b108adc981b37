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
/// and what is accepted; for an unknown name of an option or a GPU it lists the valid ones.
///
/// What neither parameters nor environment give comes from the GPU that the option `gpu` names:
/// `parallelism` and the limits of blocks, warps and shared memory. Without that option, the limits
/// per multiprocessor are those of `compute_capability` (times 10), if there is a known GPU of it.
Options parse_options(const std::map<std::string, std::string> &parameters,
                      const Environment &environment,
                      int compute_capability = 0);

/// One line `Anderson2021Params.<name>:<value>` per option, in table order.
std::string describe_options(const Options &options);
/// The options as a Markdown table: name, default, environment variable, meaning.
std::string options_table();
/// The GPUs that the option `gpu` may name, as a Markdown table.
std::string gpus_table();
/// The GPU that the options name, or else the V100, with the limits that the options give.
GpuDevice device_from_options(const Options &options);

}  // namespace anderson2021
