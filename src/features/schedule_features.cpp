#include "features/schedule_features.h"

namespace anderson2021 {

namespace {

struct Row {
    const char *name, *unit, *meaning;
};

constexpr Row kRows[] = {
#define ANDERSON_SCHEDULE_FEATURE(name, unit, default_value, meaning) {#name, unit, meaning},
#include "features/schedule_features.def"
#undef ANDERSON_SCHEDULE_FEATURE
};

static_assert(sizeof(kRows) / sizeof(kRows[0]) == kNumScheduleFeatures, "one row per feature");

}  // namespace

const char *schedule_feature_name(int i) {
    return kRows[i].name;
}

const char *schedule_feature_unit(int i) {
    return kRows[i].unit;
}

const char *schedule_feature_meaning(int i) {
    return kRows[i].meaning;
}

}  // namespace anderson2021
