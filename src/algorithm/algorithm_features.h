// Layout of the 287 integers that describe what one stage computes, independently of any schedule.
//
// Seven scalar classes in use, then operation counts (24 operations x 7 classes), then four blocks
// of access counts (4 kinds of access x 7 classes): pointwise, transpose, broadcast, slice.
#pragma once

#include <array>
#include <cstddef>

namespace anderson2021 {

/// Class of the scalar type that an operation yields.
enum class ScalarClass { Bool, UInt8, UInt16, UInt32, UInt64, Float, Double };
constexpr size_t kNumScalarClasses = 7;
constexpr std::array<const char *, kNumScalarClasses> kScalarClassNames = {
    "Bool", "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Double"};

/// Compat: Cast has a slot, but casts are never counted.
enum class OpClass {
    Const,
    Cast,
    Variable,
    Param,
    Add,
    Sub,
    Mod,
    Mul,
    Div,
    Min,
    Max,
    EQ,
    NE,
    LT,
    LE,
    And,
    Or,
    Not,
    Select,
    ImageCall,
    FuncCall,
    SelfCall,
    ExternCall,
    Let
};
constexpr size_t kNumOpClasses = 24;
constexpr std::array<const char *, kNumOpClasses> kOpClassNames = {
    "Constant", "Cast", "Variable", "Param",     "Add",      "Sub",      "Mod",        "Mul",
    "Div",      "Min",  "Max",      "EQ",        "NE",       "LT",       "LE",         "And",
    "Or",       "Not",  "Select",   "ImageCall", "FuncCall", "SelfCall", "ExternCall", "Let"};

/// What an access does: loads from another Func, from the Func itself, from an image, or stores.
enum class AccessKind { LoadFunc, LoadSelf, LoadImage, Store };
constexpr size_t kNumAccessKinds = 4;

/// Shape of an access matrix. A permutation counts as transpose and as broadcast alike.
enum class AccessPattern { Pointwise, Transpose, Broadcast, Slice };
constexpr size_t kNumAccessPatterns = 4;
constexpr std::array<const char *, kNumAccessPatterns> kAccessPatternNames = {
    "Pointwise", "Transpose", "Broadcast", "Slice"};

constexpr size_t type_in_use_index(ScalarClass type) {
    return static_cast<size_t>(type);
}

constexpr size_t op_index(OpClass op, ScalarClass type) {
    return kNumScalarClasses * (1 + static_cast<size_t>(op)) + static_cast<size_t>(type);
}

constexpr size_t access_index(AccessPattern pattern, AccessKind kind, ScalarClass type) {
    return kNumScalarClasses * (1 + kNumOpClasses + kNumAccessKinds * static_cast<size_t>(pattern) +
                                static_cast<size_t>(kind)) +
           static_cast<size_t>(type);
}

constexpr size_t kAlgorithmFeatureCount =
    kNumScalarClasses * (1 + kNumOpClasses + kNumAccessKinds * kNumAccessPatterns);

}  // namespace anderson2021
