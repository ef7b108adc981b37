#include "tools/flags.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "support/error.h"

namespace anderson2021 {

void Flags::parse(int argc, const char *const *argv) {
    for (const FlagSpec &spec : specs_) {
        values_[spec.name] = spec.default_value;
    }
    wants_help_ = argc <= 1;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        if (word == "--help" || word == "-?") {
            wants_help_ = true;
        } else if (word.rfind("--", 0) == 0 && word.size() > 2) {
            const size_t equals = word.find('=');
            if (equals != std::string::npos) {
                set(word.substr(2, equals - 2), word.substr(equals + 1));
            } else if (i + 1 < argc) {
                set(word.substr(2), argv[++i]);
            } else {
                throw UserError(word + ": the value is missing");
            }
        } else {
            words_.push_back(word);
        }
    }
    if (wants_help_) {
        return;
    }
    for (const FlagSpec &spec : specs_) {
        if (spec.required && !has(spec.name)) {
            throw UserError(std::string("--") + spec.name + " is missing");
        }
    }
}

void Flags::set(const std::string &name, const std::string &value) {
    for (const FlagSpec &spec : specs_) {
        if (name != spec.name) {
            continue;
        }
        const std::string label = "--" + name;
        if (spec.kind == FlagSpec::Kind::Integer) {
            parse_integer(label, value);
        } else if (spec.kind == FlagSpec::Kind::Number) {
            parse_number(label, value);
        } else if (spec.kind == FlagSpec::Kind::Boolean && value != "0" && value != "1") {
            throw UserError(label + " is \"" + value + "\", but has to be 0 or 1");
        }
        values_[name] = value;
        given_[name] = true;
        return;
    }
    throw UserError("there is no option --" + name);
}

namespace {

const char *value_of(FlagSpec::Kind kind) {
    switch (kind) {
    case FlagSpec::Kind::Integer:
        return "=N";
    case FlagSpec::Kind::Number:
        return "=X";
    case FlagSpec::Kind::Boolean:
        return "=0|1";
    default:
        return "=TEXT";
    }
}

}  // namespace

std::string option_line(const std::string &option, const std::string &meaning) {
    constexpr size_t kMeaningColumn = 28;
    std::string line = "  " + option;
    // Two blanks at least tell an option from its meaning.
    line.resize(std::max(line.size() + 2, kMeaningColumn), ' ');
    return line + meaning + "\n";
}

std::string Flags::usage() const {
    std::string text;
    for (const FlagSpec &spec : specs_) {
        std::string meaning = spec.meaning;
        if (spec.required) {
            meaning += " (required)";
        } else if (*spec.default_value != '\0') {
            meaning += std::string(" (default ") + spec.default_value + ")";
        }
        text += option_line(std::string("--") + spec.name + value_of(spec.kind), meaning);
    }
    return text;
}

const std::string &Flags::text(const std::string &name) const {
    const auto found = values_.find(name);
    ANDERSON_CHECK(found != values_.end()) << "no option " << name;
    return found->second;
}

int64_t Flags::integer(const std::string &name) const {
    return parse_integer("--" + name, text(name));
}

double Flags::number(const std::string &name) const {
    return parse_number("--" + name, text(name));
}

int64_t parse_integer(const std::string &label, const std::string &text) {
    char *end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0 || std::isspace(text[0]) != 0) {
        throw UserError(label + " is \"" + text + "\", but has to be an integer");
    }
    return value;
}

double parse_number(const std::string &label, const std::string &text) {
    char *end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value) || std::isspace(text[0]) != 0) {
        throw UserError(label + " is \"" + text + "\", but has to be a number");
    }
    return value;
}

std::vector<std::string> split_words(const std::string &text) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : text + " ") {
        if (c != ' ' && c != ',' && c != '\n' && c != '\t') {
            word += c;
        } else if (!word.empty()) {
            words.push_back(word);
            word.clear();
        }
    }
    return words;
}

}  // namespace anderson2021
