// Algorithm features and access matrices of one stage, from its canonicalised expressions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "Halide.h"

#include "algorithm/access_jacobian.h"
#include "algorithm/algorithm_features.h"

namespace anderson2021 {

/// The form in which expressions are counted: simplified, shared parts lifted into lets.
Halide::Expr canonical(const Halide::Expr &e);

/// Class of a scalar type; handles count as 64-bit integers.
ScalarClass scalar_class(const Halide::Type &t);

struct StageFeatures {
    std::array<int32_t, kAlgorithmFeatureCount> counts{};
    /// Of the left-hand side. Without rows for 0-dimensional Funcs.
    AccessJacobian store;
    /// Per accessed Func or image other than the Func itself: its distinct matrices with
    /// multiplicities, in order of first occurrence.
    std::map<std::string, std::vector<AccessJacobian>> loads;
};

/// @param loops  variables of the stage's loops, innermost first
StageFeatures stage_features(const std::string &func_name,
                             const Halide::Internal::Definition &def,
                             const std::vector<std::string> &loops);

}  // namespace anderson2021
