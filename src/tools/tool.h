// What all command-line programs have in common: --help, --version, and how mistakes are reported.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tools/flags.h"

namespace anderson2021 {

/// A program as its --help describes it. From that text scripts/make_manuals.py makes the manual
/// page and the completion of the shell, so the layout of help_text() matters.
struct ToolInfo {
    /// Name of the program in a build folder.
    const char *name;
    /// What follows the name on a command line.
    const char *arguments;
    /// Sentences; the first one says what the program is for. Lines are broken where the text is
    /// printed.
    const char *description;
    std::vector<FlagSpec> flags;
    /// How many words, other than options, may be given.
    size_t min_words = 0;
    size_t max_words = std::numeric_limits<size_t>::max();
};

/// What --help prints. `called` is the first word of the command line: programs are installed under
/// other names.
std::string help_text(const ToolInfo &tool, const std::string &called);

/// Calls `body` with the options of the command line; returns the exit status. --help and --version
/// are answered on standard output with status 0. Without any argument the help goes to standard
/// error, with status 1 if the program needs words. Exceptions, and a standard output that cannot
/// be written, are reported as one line on standard error and status 1.
int run_tool(const ToolInfo &tool, int argc, const char *const *argv, int (*body)(const Flags &));

}  // namespace anderson2021
