// The common part of the command-line programs.
#include "tools/tool.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "anderson2021/version.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

constexpr size_t kColumns = 80;

// Breaks lines at blanks so that they fit into kColumns.
std::string wrapped(const std::string &text) {
    std::string result;
    size_t column = 0, begin = 0;
    while (begin < text.size()) {
        const size_t end = std::min(text.find(' ', begin), text.size());
        const size_t length = end - begin;
        if (column > 0 && column + 1 + length > kColumns) {
            result += '\n';
            column = 0;
        } else if (column > 0) {
            result += ' ';
            column++;
        }
        result.append(text, begin, length);
        column += length;
        begin = end + 1;
    }
    return result + "\n";
}

bool asks_for(const char *option, int argc, const char *const *argv) {
    return std::any_of(
        argv + 1, argv + argc, [&](const char *word) { return std::string(word) == option; });
}

void check_words(const ToolInfo &tool, const Flags &flags) {
    const size_t count = flags.words().size();
    if (count < tool.min_words || count > tool.max_words) {
        throw UserError("wrong number of arguments; what is wanted is " +
                        std::string(tool.arguments) + " (see --help)");
    }
}

int answer(const std::string &text) {
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

std::string help_text(const ToolInfo &tool, const std::string &called) {
    const Flags flags(tool.flags);
    return "usage: " + std::filesystem::path(called).filename().string() + " " + tool.arguments +
           "\n\n" + wrapped(tool.description) + "\noptions:\n" + flags.usage() +
           option_line("--help", "show this text") + option_line("--version", "show the version");
}

int run_tool(const ToolInfo &tool, int argc, const char *const *argv, int (*body)(const Flags &)) {
    const std::string called = argc > 0 ? argv[0] : tool.name;
    if (argc <= 1) {
        std::fputs(help_text(tool, called).c_str(), stderr);
        return tool.min_words > 0 ? 1 : 0;
    }
    if (asks_for("--version", argc, argv)) {
        return answer(std::string(tool.name) + " (Anderson2021) " ANDERSON2021_VERSION "\n");
    }
    Flags flags(tool.flags);
    try {
        flags.parse(argc, argv);
        if (flags.wants_help()) {
            return answer(help_text(tool, called));
        }
        check_words(tool, flags);
        const int status = body(flags);
        if (std::fflush(stdout) != 0) {
            throw UserError("cannot write to standard output");
        }
        return status;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", tool.name, error.what());
        return 1;
    }
}

}  // namespace anderson2021
