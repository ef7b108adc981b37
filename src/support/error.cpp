#include "support/error.h"

#include <cstring>

namespace anderson2021 {
namespace detail {

FailureMessage::FailureMessage(const char *file, int line, const char *condition) {
    const char *leaf = std::strrchr(file, '/');
    text_ << (leaf ? leaf + 1 : file) << ":" << line << ": " << condition << " failed. ";
}

FailureMessage::~FailureMessage() noexcept(false) {
    throw InternalError(text_.str());
}

}  // namespace detail
}  // namespace anderson2021
