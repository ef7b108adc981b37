// The two ways in which the library gives up, and the check macros.
//
// Layers below the plugin know nothing of Halide, so they report by exception; the plugin turns a
// UserError into a Halide user error and an InternalError into a Halide internal error. Nothing
// else is ever thrown on purpose.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace anderson2021 {

/// The user's mistake. The text names the Func, option or file, and the remedy.
class UserError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A broken invariant of this library. The text names the place and the condition.
class InternalError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

namespace detail {

/// Collects a message and throws at the end of the full expression.
class FailureMessage {
public:
    FailureMessage(const char *file, int line, const char *condition);
    FailureMessage(const FailureMessage &) = delete;
    FailureMessage &operator=(const FailureMessage &) = delete;
    ~FailureMessage() noexcept(false);

    template<typename T>
    FailureMessage &operator<<(const T &value) {
        text_ << value;
        return *this;
    }

private:
    std::ostringstream text_;
};

}  // namespace detail
}  // namespace anderson2021

/// Throws InternalError, with the streamed text, unless `condition` holds.
#define ANDERSON_CHECK(condition)                                                                  \
    if (condition) {                                                                               \
    } else                                                                                         \
        ::anderson2021::detail::FailureMessage(__FILE__, __LINE__, #condition)

/// Like ANDERSON_CHECK, in debug builds only. Never with side effects.
#ifndef NDEBUG
#define ANDERSON_DCHECK(condition) ANDERSON_CHECK(condition)
#else
#define ANDERSON_DCHECK(condition) ANDERSON_CHECK(true || (condition))
#endif
