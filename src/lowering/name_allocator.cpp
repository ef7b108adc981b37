#include "lowering/name_allocator.h"

namespace anderson2021 {

namespace {

// Keywords and alternative tokens of C++20, then the parameters of the schedule function and what
// its using-declarations and the text itself refer to.
const char *const kReservedIdentifiers[] = {
    "alignas",       "alignof",      "and",
    "and_eq",        "asm",          "auto",
    "bitand",        "bitor",        "bool",
    "break",         "case",         "catch",
    "char",          "char16_t",     "char32_t",
    "char8_t",       "class",        "co_await",
    "co_return",     "co_yield",     "compl",
    "concept",       "const",        "const_cast",
    "consteval",     "constexpr",    "constinit",
    "continue",      "decltype",     "default",
    "delete",        "do",           "double",
    "dynamic_cast",  "else",         "enum",
    "explicit",      "export",       "extern",
    "false",         "float",        "for",
    "friend",        "goto",         "if",
    "inline",        "int",          "long",
    "mutable",       "namespace",    "new",
    "noexcept",      "not",          "not_eq",
    "nullptr",       "operator",     "or",
    "or_eq",         "private",      "protected",
    "public",        "register",     "reinterpret_cast",
    "requires",      "return",       "short",
    "signed",        "sizeof",       "static",
    "static_assert", "static_cast",  "struct",
    "switch",        "template",     "this",
    "thread_local",  "throw",        "true",
    "try",           "typedef",      "typeid",
    "typename",      "union",        "unsigned",
    "using",         "virtual",      "void",
    "volatile",      "wchar_t",      "while",
    "xor",           "xor_eq",       "pipeline",
    "target",        "Func",         "MemoryType",
    "RVar",          "TailStrategy", "Var",
    "Halide",        "std",          "linux",
    "unix",          "NULL",         "errno",
    "assert",        "stdin",        "stdout",
    "stderr",
};

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string NameAllocator::fresh(const std::string &base) {
    std::string name = base;
    for (int i = 2; !used_.insert(name).second; i++) {
        name = base + "_" + std::to_string(i);
    }
    return name;
}

std::string to_identifier(const std::string &name) {
    std::string id;
    for (const char c : name) {
        if (is_letter_or_digit(c)) {
            id += c;
        } else if (id.empty() || id.back() != '_') {
            id += '_';
        }
    }
    // Neither a digit nor an underscore followed by a capital may come first.
    if (id.empty() || id[0] == '_' || (id[0] >= '0' && id[0] <= '9')) {
        id = (id.empty() || id[0] != '_' ? "v_" : "v") + id;
    }
    return id;
}

NameAllocator make_identifier_allocator() {
    NameAllocator names;
    for (const char *const reserved : kReservedIdentifiers) {
        names.reserve(reserved);
    }
    return names;
}

}  // namespace anderson2021
