#include "lowering/size_conditions.h"

#include <algorithm>

#include "schedule/unknown_sizes.h"

namespace anderson2021 {

namespace {

// Lengths that go through a division may be off by one per division, whatever the offset.
constexpr int64_t kSlack = 2;

}  // namespace

SizeConditions::SizeConditions(const PipelineGraph &graph)
    : graph_(graph), follows_outputs_(find_funcs_following_outputs(graph)) {}

const SizeConditions::Fraction &SizeConditions::fraction(int64_t divisor) {
    for (const auto &[d, fraction] : fractions_) {
        if (d == divisor) {
            return *fraction;
        }
    }
    auto fraction = std::make_unique<Fraction>();
    fraction->graph = graph_;
    for (FuncNode &f : fraction->graph.funcs) {
        for (Span &span : f.estimate) {
            if (!span.exact) {
                span.max = span.min + std::max<int64_t>(1, span.extent() / divisor) - 1;
            }
        }
    }
    fraction->regions.emplace(fraction->graph);
    fractions_.emplace_back(divisor, std::move(fraction));
    return *fractions_.back().second;
}

bool SizeConditions::long_enough(const StagePlan &plan, const Fraction &fraction) const {
    const FuncRegion &region = fraction.regions->of(plan.func->id);
    return std::all_of(plan.long_loops.begin(), plan.long_loops.end(), [&](const auto &l) {
        return region.loop(plan.stage->index, l.first).extent() >= l.second + kSlack;
    });
}

std::optional<std::vector<SizeCondition>> SizeConditions::for_plan(const StagePlan &plan) {
    std::vector<SizeCondition> conditions;
    if (plan.func->is_output) {
        for (const auto &[loop, trips] : plan.long_loops) {
            conditions.push_back({plan.func->id, plan.loop(loop).pure_dim, trips});
        }
        return conditions;
    }
    if (!follows_outputs_.contains(plan.func->id)) {
        return std::nullopt;
    }
    for (const int64_t divisor : {16, 8, 4, 2, 1}) {
        const Fraction &smaller = fraction(divisor);
        if (!long_enough(plan, smaller)) {
            continue;
        }
        for (const FuncNode &f : smaller.graph.funcs) {
            for (size_t d = 0; f.is_output && d < f.estimate.size(); d++) {
                if (!f.estimate[d].exact && f.estimate[d].extent() > 1) {
                    conditions.push_back({f.id, static_cast<int>(d), f.estimate[d].extent()});
                }
            }
        }
        return conditions;
    }
    return std::nullopt;
}

}  // namespace anderson2021
