// Commits the fault that its argument names. A build with sanitizers that says nothing of it would
// say nothing of faults elsewhere either.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/pool.h"

using namespace anderson2021;

namespace {

// Where the optimizer does not see them.
volatile int one = 1;
volatile size_t beyond = 4;
int *lost = nullptr;

void race() {
    int count = 0;
    const auto add = [&] {
        for (int i = 0; i < 10000; i++) {
            count += one;
        }
    };
    std::thread other(add);
    add();
    other.join();
    std::printf("%d\n", count);
}

void use_after_free() {
    auto *const block = static_cast<int *>(pool::allocate(64));
    *block = 1;
    pool::deallocate(block, 64);
    std::printf("%d\n", *const_cast<volatile int *>(block));
}

void overflow() {
    std::printf("%d\n", std::numeric_limits<int>::max() + one);
}

void index() {
    const std::vector<int> values(4);
    std::printf("%d\n", values[beyond]);
}

void leak() {
    lost = new int[100];
    std::printf("%d\n", lost[0] = one);
    lost = nullptr;
}

}  // namespace

int main(int argc, char **argv) {
    const std::string fault = argc > 1 ? argv[1] : "";
    // A failed assertion; ctest takes a program that is aborted for a failure whatever it prints.
    std::signal(SIGABRT, [](int) { std::_Exit(EXIT_FAILURE); });
    if (fault == "race") {
        race();
    } else if (fault == "use_after_free") {
        use_after_free();
    } else if (fault == "overflow") {
        overflow();
    } else if (fault == "index") {
        index();
    } else if (fault == "leak") {
        leak();
    } else {
        std::fprintf(
            stderr, "usage: %s race | use_after_free | overflow | index | leak\n", argv[0]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
