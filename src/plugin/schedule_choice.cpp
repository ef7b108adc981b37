#include "plugin/schedule_choice.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

// Each is a complete compilation.
constexpr int64_t kMaxRanked = 8;

class Choice {
public:
    Choice(const Options &options, const ChoiceSteps &steps) : options_(options), steps_(steps) {}

    ChosenSchedule run(SearchResult first) {
        ScheduleTrace trace;
        if (is_usable(first.best, trace)) {
            return {std::move(first), std::move(trace)};
        }
        Options options = options_;
        options.top_k = std::max(options.top_k, kMaxRanked);
        if (auto chosen = choose(steps_.search(options))) {
            return std::move(*chosen);
        }
        // What is fused nowhere leaves little to object to, and what is not even inlined still
        // less. A partial schedule may ask for either.
        if (options_.partial_schedule_path.empty()) {
            for (const char *space : {"0011", "0001"}) {
                options.search_space_options = space;
                if (auto chosen = choose(steps_.search(options))) {
                    return std::move(*chosen);
                }
            }
        }
        throw UserError("None of " + std::to_string(tried_.size()) +
                        " schedules can be compiled. The best one fails with: " + first_fault_);
    }

private:
    std::optional<ChosenSchedule> choose(const SearchResult &found) {
        std::vector<SearchResult::Ranked> usable = found.top;
        while (!usable.empty()) {
            ScheduleTrace trace;
            if (!is_known(*usable.front().tree) && is_usable(usable.front().tree, trace)) {
                SearchResult result = steps_.evaluate(usable.front().tree);
                result.progress = found.progress;
                result.stats = found.stats;
                usable.resize(std::min(usable.size(), static_cast<size_t>(options_.top_k)));
                result.top = std::move(usable);
                return ChosenSchedule{std::move(result), std::move(trace)};
            }
            usable.erase(usable.begin());
        }
        return std::nullopt;
    }

    bool is_known(const LoopNest &tree) const {
        return std::any_of(tried_.begin(), tried_.end(), [&](const LoopNestPtr &other) {
            return other->same_structure(tree);
        });
    }

    bool is_usable(const LoopNestPtr &tree, ScheduleTrace &trace) {
        const std::string fault = steps_.fault_of(*tree, trace);
        if (fault.empty()) {
            return true;
        }
        first_fault_ = tried_.empty() ? fault : first_fault_;
        tried_.push_back(tree);
        write_log("Warning: schedule " + std::to_string(tried_.size()) +
                  " cannot be compiled, the next best one is tried: " + fault + "\n");
        return false;
    }

    const Options &options_;
    const ChoiceSteps &steps_;
    std::vector<LoopNestPtr> tried_;
    std::string first_fault_;
};

}  // namespace

ChosenSchedule
choose_schedule(SearchResult first, const Options &options, const ChoiceSteps &steps) {
    return Choice(options, steps).run(std::move(first));
}

}  // namespace anderson2021
