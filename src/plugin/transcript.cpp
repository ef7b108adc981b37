#include "plugin/transcript.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "costmodel/file_bytes.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr const char *kTiles = " tiles";
constexpr const char *kHeading =
    "# Decisions taken by hand, to be replayed with autoscheduler.by_hand=<this file>.\n"
    "# A choice may be shortened to its beginning: the cheapest one that begins like that is "
    "taken.\n"
    "# Without a line, the search decides.\n";

std::string trimmed(const std::string &text) {
    const char *const blanks = " \t\r";
    const size_t begin = text.find_first_not_of(blanks);
    return begin == std::string::npos
               ? ""
               : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Transcript::Transcript(std::string path, std::vector<std::string> funcs)
    : path_(std::move(path)), funcs_(std::move(funcs)) {
    std::error_code ignored;
    if (!std::filesystem::exists(path_, ignored)) {
        return;
    }
    const BytesOrError file = read_file_bytes(path_, kMaxBytes);
    if (!file.error.empty()) {
        throw UserError("Option autoscheduler.by_hand: cannot read " + path_ + ": " + file.error);
    }
    std::istringstream text(std::string(file.bytes.begin(), file.bytes.end()));
    int number = 0;
    for (std::string line; std::getline(text, line);) {
        number++;
        line = trimmed(line);
        if (!line.empty() && line[0] != '#') {
            add(line, number);
        }
    }
}

void Transcript::fail(int number, const std::string &reason) const {
    throw UserError(path_ + ":" + std::to_string(number) + ": " + reason);
}

void Transcript::add(const std::string &text, int number) {
    const size_t equals = text.find(" = ");
    const std::string name = trimmed(text.substr(0, equals));
    const std::string choice = equals == std::string::npos ? "" : trimmed(text.substr(equals + 3));
    if (name.empty() || choice.empty()) {
        fail(number, "\"" + text + "\" is no decision. Write <Func> = <choice>.");
    }
    if (name == "*") {
        if (choice != "automatic") {
            fail(number, "after * only \"automatic\" is possible");
        }
        automatic_ = true;
        return;
    }
    if (position(name) < 0) {
        fail(number, "the pipeline has no Func to be decided named " + name);
    }
    if (const Line *before = find(name)) {
        fail(number, name + " is decided in line " + std::to_string(before->number) + " already");
    }
    set(name, choice);
    for (Line &line : lines_) {
        line.number = line.name == name ? number : line.number;
    }
}

int Transcript::position(const std::string &name) const {
    const bool tiles = ends_with(name, kTiles);
    const std::string func =
        tiles ? name.substr(0, name.size() - std::string(kTiles).size()) : name;
    const auto at = std::find(funcs_.begin(), funcs_.end(), func);
    return at == funcs_.end() ? -1 : 2 * static_cast<int>(at - funcs_.begin()) + (tiles ? 1 : 0);
}

const Transcript::Line *Transcript::find(const std::string &name) const {
    const auto at = std::find_if(
        lines_.begin(), lines_.end(), [&](const Line &line) { return line.name == name; });
    return at == lines_.end() ? nullptr : &*at;
}

bool Transcript::has_later(const std::string &name) const {
    return !lines_.empty() && position(lines_.back().name) >= position(name);
}

std::optional<size_t> Transcript::resolve(const Line &line, const Decision &decision) {
    const std::vector<Choice> &choices = decision.choices;
    for (size_t i = 0; i < choices.size(); i++) {
        if (choices[i].text == line.choice) {
            return i;
        }
    }
    if (line.choice.size() < 10 &&
        line.choice.find_first_not_of("0123456789") == std::string::npos) {
        const auto number = static_cast<size_t>(std::stoul(line.choice));
        return number >= 1 && number <= choices.size() ? std::optional<size_t>(number - 1)
                                                       : std::nullopt;
    }
    for (size_t i = 0; i < choices.size(); i++) {
        if (choices[i].text.compare(0, line.choice.size(), line.choice) == 0) {
            return i;
        }
    }
    return std::nullopt;
}

void Transcript::set(const std::string &name, const std::string &choice) {
    erase(name);
    const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const Line &line) {
        return position(line.name) > position(name);
    });
    lines_.insert(at, {name, choice, 0});
}

void Transcript::erase(const std::string &name) {
    lines_.erase(std::remove_if(lines_.begin(),
                                lines_.end(),
                                [&](const Line &line) { return line.name == name; }),
                 lines_.end());
}

void Transcript::write(const std::string &comment) const {
    std::string text = kHeading;
    for (const Line &line : lines_) {
        text += line.name + " = " + line.choice + "\n";
    }
    if (automatic_) {
        text += "* = automatic\n";
    }
    text += comment;
    const std::string error = replace_file(path_, text.data(), text.size());
    if (!error.empty()) {
        throw UserError("Option autoscheduler.by_hand: cannot write " + path_ + ": " + error);
    }
}

}  // namespace anderson2021
