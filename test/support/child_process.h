// For tests that compare what several processes make of the same pipeline.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace anderson2021 {
namespace test {

inline std::string read_file(const std::string &path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Runs `body` in a child process, as Halide's own runs of a generator are: the names that the
/// compiler makes up do not depend on what was built before. Returns whether it ended without an
/// error.
template<typename Body>
bool in_child_process(const Body &body) {
    const pid_t child = fork();
    if (child == 0) {
        int status = 1;
        try {
            body();
            status = 0;
        } catch (const std::exception &e) {
            std::fprintf(stderr, "%s\n", e.what());
        }
        std::_Exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace test
}  // namespace anderson2021
