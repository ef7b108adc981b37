// Wall-clock time since construction, for statistics.
#pragma once

#include <chrono>

namespace anderson2021 {

class Stopwatch {
public:
    double ms() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
            .count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace anderson2021
