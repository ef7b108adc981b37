#include "plugin/by_hand_chooser.h"

#include <algorithm>
#include <cstdio>
#include <istream>
#include <ostream>
#include <unistd.h>
#include <utility>

#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

constexpr size_t kPage = 12;
constexpr size_t kNumExamples = 5;

constexpr const char *kHelp =
    "  <number>  take that choice        Enter  take choice 1, the cheapest\n"
    "  b  back: take the last decision again\n"
    "  m  more choices                   p  print the schedule so far\n"
    "  a  automatic: the search decides this and all that follows\n"
    "  q  quit without a schedule; the decisions are kept\n"
    "  The costs are predictions for what is decided so far, so they grow from Func to Func.\n";

std::string milliseconds(double cost) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.4g ms", cost);
    return text;
}

std::string trimmed(const std::string &text) {
    const size_t begin = text.find_first_not_of(" \t\r");
    return begin == std::string::npos
               ? ""
               : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Of an answer, the number of the choice; 0 if it is none.
size_t number_in(const std::string &answer, size_t num_choices) {
    if (answer.empty()) {
        return 1;
    }
    if (answer.size() > 9 || answer.find_first_not_of("0123456789") != std::string::npos) {
        return 0;
    }
    const auto number = static_cast<size_t>(std::stoul(answer));
    return number <= num_choices ? number : 0;
}

}  // namespace

ByHandChooser::ByHandChooser(Transcript transcript, const Terminal *terminal)
    : transcript_(std::move(transcript)), terminal_(terminal) {}

Answer ByHandChooser::choose(const Decision &decision) {
    if (const Transcript::Line *line = transcript_.find(decision.name)) {
        if (const std::optional<size_t> choice = Transcript::resolve(*line, decision)) {
            if (terminal_ != nullptr) {
                terminal_->out << decision.name << " = " << decision.choices[*choice].text << "   ("
                               << transcript_.path() << ")\n";
            }
            taken_.push_back(decision.name);
            return {Answer::Kind::Take, *choice};
        }
        if (terminal_ == nullptr) {
            refuse(*line, decision);
        }
        terminal_->out << "Not possible any more: " << line->name << " = " << line->choice << "\n";
    } else if (terminal_ == nullptr) {
        if (transcript_.has_later(decision.name)) {
            ANDERSON_LOG(1) << "Not decided by hand: " << decision.name << " = "
                            << decision.choices[0].text;
            taken_.push_back(decision.name);
            return {Answer::Kind::Take, 0};
        }
        return {Answer::Kind::Automatic, 0};
    } else if (transcript_.is_automatic() && !transcript_.has_later(decision.name)) {
        return {Answer::Kind::Automatic, 0};
    }
    return ask(decision);
}

Answer ByHandChooser::ask(const Decision &decision) {
    asked_ = true;
    std::ostream &out = terminal_->out;
    out << "\nFunc " << decision.func_number << " of " << decision.num_funcs << ": "
        << decision.name << ", " << decision.choices.size() << " choices\n";
    size_t shown = std::min(kPage, decision.choices.size());
    list(decision, 0, shown);
    for (;;) {
        out << "number, Enter, b, m, p, a, q or ? for help: " << std::flush;
        std::string line;
        if (!std::getline(terminal_->in, line)) {
            out << "\n";
            quit();
        }
        const std::string answer = trimmed(line);
        if (const size_t number = number_in(answer, decision.choices.size())) {
            return take(decision, number - 1);
        }
        if (answer == "b" && decision.can_go_back) {
            return go_back();
        } else if (answer == "b") {
            out << "This is the first decision.\n";
        } else if (answer == "a") {
            transcript_.set_automatic(true);
            save();
            return {Answer::Kind::Automatic, 0};
        } else if (answer == "q") {
            quit();
        } else if (answer == "p") {
            out << decision.schedule();
        } else if (answer == "m" && shown < decision.choices.size()) {
            const size_t count = std::min(kPage, decision.choices.size() - shown);
            list(decision, shown, count);
            shown += count;
        } else if (answer == "m") {
            out << "There are no more.\n";
        } else {
            out << (answer == "?" ? "" : "That is none of the answers:\n") << kHelp;
        }
    }
}

void ByHandChooser::list(const Decision &decision, size_t first, size_t count) const {
    for (size_t i = first; i < first + count; i++) {
        char head[64];
        std::snprintf(head,
                      sizeof(head),
                      "%5zu  %12s  ",
                      i + 1,
                      milliseconds(decision.choices[i].cost).c_str());
        terminal_->out << head << decision.choices[i].text << "\n";
    }
}

Answer ByHandChooser::take(const Decision &decision, size_t choice) {
    transcript_.set(decision.name, decision.choices[choice].text);
    taken_.push_back(decision.name);
    save();
    return {Answer::Kind::Take, choice};
}

// What was decided before has to be asked again.
Answer ByHandChooser::go_back() {
    ANDERSON_CHECK(!taken_.empty()) << "Nothing was decided yet";
    transcript_.erase(taken_.back());
    taken_.pop_back();
    save();
    return {Answer::Kind::Back, 0};
}

bool ByHandChooser::take_back(const std::string &func, const std::string &reason) {
    if (terminal_ == nullptr) {
        return false;
    }
    terminal_->out << "Nothing legal is left for Func " << func
                   << (reason.empty() ? "" : ", candidates were dropped by: ") << reason
                   << "\nBack to the decision before.\n";
    asked_ = true;
    go_back();
    return true;
}

void ByHandChooser::done(double cost) {
    if (asked_) {
        transcript_.write("# predicted: " + milliseconds(cost) + "\n");
        terminal_->out << "Predicted: " << milliseconds(cost) << ". The decisions are in "
                       << transcript_.path() << "\n";
    }
    for (const Transcript::Line &line : transcript_.lines()) {
        if (std::find(taken_.begin(), taken_.end(), line.name) == taken_.end()) {
            write_log("Warning: " + transcript_.path() + ":" + std::to_string(line.number) +
                      ": there was nothing to decide about " + line.name +
                      ", the line has no effect\n");
        }
    }
}

void ByHandChooser::save() {
    transcript_.write("");
}

void ByHandChooser::quit() {
    throw UserError("The search by hand was quit. " + transcript_.path() +
                    " holds the decisions taken so far; run again to go on with them");
}

void ByHandChooser::refuse(const Transcript::Line &line, const Decision &decision) const {
    std::string text = transcript_.path() + ":" + std::to_string(line.number) + ": \"" +
                       line.choice + "\" is none of the " +
                       std::to_string(decision.choices.size()) + " choices for " + line.name +
                       ". The cheapest ones:";
    for (size_t i = 0; i < std::min(kNumExamples, decision.choices.size()); i++) {
        text += "\n  " + decision.choices[i].text;
    }
    throw UserError(text);
}

Transcript read_transcript(const Options &options, const PipelineGraph &graph) {
    std::vector<std::string> funcs;
    for (const FuncNode &func : graph.funcs) {
        if (!func.is_input) {
            funcs.push_back(func.name);
        }
    }
    return Transcript(options.by_hand, std::move(funcs));
}

bool may_ask(const Options &options) {
    return options.by_hand_ask == 2 ||
           (options.by_hand_ask == 1 && isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0);
}

}  // namespace anderson2021
