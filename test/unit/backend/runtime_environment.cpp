// Takes the compiler's runtime for pipelines out of the process once all tests are through. It
// remembers the kernels of devices in memory that LeakSanitizer would take for lost.
#include <gtest/gtest.h>

#include "Halide.h"

namespace anderson2021 {
namespace test {
namespace {

class RuntimeEnvironment : public testing::Environment {
public:
    void TearDown() override { Halide::Internal::JITSharedRuntime::release_all(); }
};

[[maybe_unused]] const testing::Environment *const environment =
    testing::AddGlobalTestEnvironment(new RuntimeEnvironment);

}  // namespace
}  // namespace test
}  // namespace anderson2021
