// Hands out names that nobody else uses: loop variables within a stage, identifiers within the
// printed text.
#pragma once

#include <set>
#include <string>

namespace anderson2021 {

class NameAllocator {
public:
    /// Marks a name as taken; harmless if it already is.
    void reserve(const std::string &name) { used_.insert(name); }
    /// `base` if it is free, else `base_2`, `base_3`, ...; the result is taken from then on.
    std::string fresh(const std::string &base);

private:
    std::set<std::string> used_;
};

/// `name` as a C++ identifier: other characters become underscores, never two in a row. Different
/// names may become equal.
std::string to_identifier(const std::string &name);

/// An allocator for identifiers in which the keywords of C++ and the names that a generated
/// schedule function finds in its scope are taken.
NameAllocator make_identifier_allocator();

}  // namespace anderson2021
