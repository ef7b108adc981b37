#include <gtest/gtest.h>

#include "lowering/name_allocator.h"

namespace anderson2021 {
namespace {

TEST(NameAllocator, NumbersNamesThatAreTaken) {
    NameAllocator names;
    names.reserve("xi");
    EXPECT_EQ(names.fresh("x"), "x");
    EXPECT_EQ(names.fresh("x"), "x_2");
    EXPECT_EQ(names.fresh("x"), "x_3");
    EXPECT_EQ(names.fresh("xi"), "xi_2");
    // A name that was only made up earlier is as taken as any other.
    EXPECT_EQ(names.fresh("x_2"), "x_2_2");
}

TEST(NameAllocator, MakesIdentifiers) {
    EXPECT_EQ(to_identifier("blur$1"), "blur_1");
    EXPECT_EQ(to_identifier("r8$x"), "r8_x");
    EXPECT_EQ(to_identifier("a..b"), "a_b");
    EXPECT_EQ(to_identifier("a__b"), "a_b");
    EXPECT_EQ(to_identifier("_0"), "v_0");
    EXPECT_EQ(to_identifier("3d"), "v_3d");
    EXPECT_EQ(to_identifier(""), "v_");
    EXPECT_EQ(to_identifier("__outermost"), "v_outermost");
}

TEST(NameAllocator, AvoidsWhatAGeneratedFunctionSees) {
    NameAllocator names = make_identifier_allocator();
    EXPECT_EQ(names.fresh("while"), "while_2");
    EXPECT_EQ(names.fresh("pipeline"), "pipeline_2");
    EXPECT_EQ(names.fresh("target"), "target_2");
    EXPECT_EQ(names.fresh("Var"), "Var_2");
    EXPECT_EQ(names.fresh("f"), "f");
}

}  // namespace
}  // namespace anderson2021
