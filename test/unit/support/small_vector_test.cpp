#include <gtest/gtest.h>
#include <string>

#include "support/small_vector.h"

namespace anderson2021 {
namespace {

using Texts = SmallVector<std::string, 3>;

TEST(SmallVector, KeepsElementsWhenTheyMoveToTheHeap) {
    Texts texts;
    std::vector<std::string> expected;
    for (int i = 0; i < 10; i++) {
        texts.push_back(std::string(40, static_cast<char>('a' + i)));
        expected.emplace_back(40, static_cast<char>('a' + i));
        EXPECT_EQ(texts.to_vector(), expected);
        EXPECT_EQ(texts.back(), expected.back());
    }
}

TEST(SmallVector, ResizesAcrossTheBoundary) {
    Texts texts{"a", "b"};
    texts.resize(5, "x");
    EXPECT_EQ(texts, (Texts{"a", "b", "x", "x", "x"}));
    texts.resize(4);
    EXPECT_EQ(texts, (Texts{"a", "b", "x", "x"}));
    texts.resize(2);
    EXPECT_EQ(texts, (Texts{"a", "b"}));
    texts.push_back("c");
    EXPECT_EQ(texts, (Texts{"a", "b", "c"}));
    texts.assign(4, "z");
    EXPECT_EQ(texts.to_vector(), std::vector<std::string>(4, "z"));
    texts.clear();
    EXPECT_TRUE(texts.empty());
}

TEST(SmallVector, CopiesAreIndependent) {
    for (const size_t size : {2u, 5u}) {
        Texts original;
        original.resize(size, "same");
        Texts copy = original;
        copy[0] = "other";
        EXPECT_EQ(original[0], "same");
        EXPECT_NE(original, copy);
        Texts moved = std::move(copy);
        EXPECT_EQ(moved.size(), size);
        EXPECT_EQ(moved[0], "other");
        EXPECT_EQ(moved[size - 1], "same");
        EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): that is what is tested
    }
}

TEST(SmallVector, EqualsOtherContentsOnly) {
    EXPECT_NE((Texts{"a"}), (Texts{"a", "b"}));
    EXPECT_NE((Texts{"a", "b"}), (Texts{"a", "c"}));
    EXPECT_EQ(Texts(std::vector<std::string>{"a", "b"}), (Texts{"a", "b"}));
}

TEST(SmallVector, ComparesLexicographically) {
    EXPECT_LT((Texts{"a", "b"}), (Texts{"a", "c"}));
    EXPECT_LT((Texts{"a"}), (Texts{"a", "a"}));
    EXPECT_FALSE((Texts{"b"}) < (Texts{"a", "z"}));
}

TEST(SmallVector, ReservesAndPops) {
    Texts texts(2, "a");
    texts.reserve(5);
    EXPECT_EQ(texts, (Texts{"a", "a"}));
    texts.push_back("b");
    texts.push_back("c");
    texts.push_back("d");
    EXPECT_EQ(texts.to_vector(), (std::vector<std::string>{"a", "a", "b", "c", "d"}));
    for (size_t left = 4; left > 0; left--) {
        texts.pop_back();
        EXPECT_EQ(texts.size(), left);
    }
    EXPECT_EQ(texts, Texts{"a"});
}

}  // namespace
}  // namespace anderson2021
