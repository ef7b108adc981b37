#include "search/rejections.h"

#include <cstring>
#include <sstream>

namespace anderson2021 {

void RejectionTally::add(const Rejection &rejection, int64_t count) {
    for (Line &line : lines_) {
        if (std::strcmp(line.example.rule, rejection.rule) == 0) {
            line.count += count;
            return;
        }
    }
    lines_.push_back({rejection, count});
}

void RejectionTally::add(const RejectionTally &other) {
    for (const Line &line : other.lines_) {
        add(line.example, line.count);
    }
}

std::string RejectionTally::text() const {
    std::ostringstream out;
    const char *separator = "";
    for (const Line &line : lines_) {
        out << separator << line.example.rule << " (" << line.count
            << (line.count == 1 ? " time" : " times") << ", e.g. " << line.example.value
            << " against a limit of " << line.example.limit << ")";
        separator = ", ";
    }
    return out.str();
}

}  // namespace anderson2021
