// Log lines for the user: off unless a level is set, and free when off.
#pragma once

#include <functional>
#include <sstream>
#include <string>

namespace anderson2021 {

/// Level of HL_DEBUG_AUTOSCHEDULE (else HL_DEBUG_CODEGEN); set once by the plugin.
int log_level();
void set_log_level(int level);
/// Writes to stderr (or to the sink that a test has set), whole lines at a time.
void write_log(const std::string &text);
void set_log_sink(std::function<void(const std::string &)> sink);
/// Called before every write, to wipe what does not belong to the log; null removes it. Must not
/// write to the log.
void set_log_prelude(std::function<void()> prelude);

}  // namespace anderson2021

/// ANDERSON_LOG(1) << ...; the operands are not evaluated below that level. Ends the line itself.
#define ANDERSON_LOG(level)                                                                        \
    if (::anderson2021::log_level() < (level)) {                                                   \
    } else                                                                                         \
        ::anderson2021::detail::LogLine()

namespace anderson2021 {
namespace detail {

class LogLine {
public:
    LogLine() = default;
    LogLine(const LogLine &) = delete;
    LogLine &operator=(const LogLine &) = delete;
    ~LogLine() { write_log(text_.str() + "\n"); }

    template<typename T>
    LogLine &operator<<(const T &value) {
        text_ << value;
        return *this;
    }

private:
    std::ostringstream text_;
};

}  // namespace detail
}  // namespace anderson2021
