// Command-line options of the tools: --name=value or --name value, in any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace anderson2021 {

struct FlagSpec {
    enum class Kind { Integer, Number, Boolean, Text };

    const char *name;
    Kind kind;
    /// Has to be given; otherwise `default_value` counts.
    bool required;
    const char *default_value;
    const char *meaning;
};

class Flags {
public:
    explicit Flags(std::vector<FlagSpec> specs) : specs_(std::move(specs)) {}

    /// Throws UserError that names the option and what is wrong with it. Words that are no options
    /// are collected in words(). After `--help`, `-?` or without any argument, wants_help().
    void parse(int argc, const char *const *argv);
    bool wants_help() const { return wants_help_; }
    /// One line per option.
    std::string usage() const;

    bool has(const std::string &name) const { return given_.count(name) != 0; }
    int64_t integer(const std::string &name) const;
    double number(const std::string &name) const;
    bool boolean(const std::string &name) const { return text(name) == "1"; }
    const std::string &text(const std::string &name) const;
    const std::vector<std::string> &words() const { return words_; }

private:
    void set(const std::string &name, const std::string &value);

    std::vector<FlagSpec> specs_;
    std::map<std::string, std::string> values_;
    std::map<std::string, bool> given_;
    std::vector<std::string> words_;
    bool wants_help_ = false;
};

/// A line of usage().
std::string option_line(const std::string &option, const std::string &meaning);
/// A whole decimal integer, or UserError that starts with `label`.
int64_t parse_integer(const std::string &label, const std::string &text);
/// A whole finite number, or UserError that starts with `label`.
double parse_number(const std::string &label, const std::string &text);
/// The words of a text that is separated by blanks or commas.
std::vector<std::string> split_words(const std::string &text);

}  // namespace anderson2021
