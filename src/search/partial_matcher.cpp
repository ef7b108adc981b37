#include "search/partial_matcher.h"

#include <algorithm>
#include <utility>

#include "schedule/schedule_text.h"
#include "support/error.h"

namespace anderson2021 {

PartialMatcher::PartialMatcher(ParsedSchedule schedule, const PipelineGraph &graph)
    : schedule_(std::move(schedule)), graph_(graph), constrained_(graph.num_funcs()) {
    check_func_names(schedule_, graph);
    for (const auto &func : schedule_.funcs) {
        constrained_.insert(graph.find_func(func.first));
    }
}

bool PartialMatcher::matches(const LoopNest &root) const {
    return anderson2021::matches(schedule_, root, graph_, nullptr);
}

PartialMatcher::Fit PartialMatcher::fit(const LoopNest &root, int func) const {
    Fit fit;
    anderson2021::matches(schedule_, root, graph_, &fit.mismatch);
    const std::string &name = graph_.func(func).name;
    const ParsedSchedule found = parse_schedule(print_schedule(root, graph_), "the candidate");
    const auto expected = schedule_.funcs.find(name);
    const auto actual = found.funcs.find(name);
    if (expected != schedule_.funcs.end() && actual != found.funcs.end()) {
        const auto &want = expected->second.lines;
        const auto &have = actual->second.lines;
        while (fit.num_lines < std::min(want.size(), have.size()) &&
               want[fit.num_lines].second == have[fit.num_lines].second) {
            fit.num_lines++;
        }
    }
    return fit;
}

void ClosestMiss::add(const PartialMatcher &matcher, const LoopNest &root, int func) {
    PartialMatcher::Fit fit = matcher.fit(root, func);
    if (!any_ || fit.num_lines > best_.num_lines) {
        best_ = std::move(fit);
    }
    any_ = true;
}

void ClosestMiss::add_rejected(const std::string &rejections) {
    rejected_ = rejections;
}

void ClosestMiss::report(const PartialMatcher &matcher, const FuncNode &func) const {
    std::string text = "The partial schedule " + matcher.source() +
                       " cannot be followed: no legal schedule agrees with it on Func " +
                       func.name + ". ";
    if (!rejected_.empty()) {
        text += "The schedule that agrees breaks a limit: " + rejected_ + ".";
    } else if (any_) {
        text += "The closest candidate differs as follows: " + best_.mismatch + ".";
    } else {
        text += "The options leave no candidate at all; allow more in "
                "autoscheduler.search_space_options.";
    }
    throw UserError(text);
}

}  // namespace anderson2021
