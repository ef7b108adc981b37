#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule_fixtures.h"
#include "search/nest_interner.h"

namespace anderson2021 {
namespace {

using test::Pipeline;

const char *const kTiled = "h 2 (0, 0) gpu_block\n h 32 (0, 0) gpu_thread\n"
                           "  h 1 (0, 0) gpu_serial\n   h 1 (0, 0) * gpu_simd\n";

TEST(NestInterner, EqualBlocksBecomeOneObject) {
    const Pipeline p(test::stencil_graph(64));
    ThreadPool pool(2);
    NestInterner interner(p.editor, pool);
    const LoopNestPtr first = interner.intern(p.tree(kTiled));
    const LoopNestPtr again = p.tree(kTiled);
    ASSERT_NE(first->children[0], again->children[0]);
    const LoopNestPtr interned = interner.intern(p.place_at_root(again, 1));
    EXPECT_EQ(interned->children[0], first->children[0]);
    EXPECT_EQ(interned->children.size(), 2u);
    EXPECT_EQ(interner.size(), 2u);
    // A tree that is canonical already stays the same object.
    EXPECT_EQ(interner.intern(interned), interned);
}

TEST(NestInterner, DifferentBlocksStayApart) {
    const Pipeline p(test::stencil_graph(64));
    ThreadPool pool(2);
    NestInterner interner(p.editor, pool);
    const LoopNestPtr plain = interner.intern(p.tree(kTiled));
    const LoopNestPtr inlined = interner.intern(p.editor.inline_func(plain, 1));
    EXPECT_NE(plain->children[0], inlined->children[0]);
    EXPECT_EQ(inlined->children[0]->children[0]->children[0]->children[0]->num_inlined_calls(1), 1);
}

TEST(NestInterner, TrimForgetsWhatNobodyHolds) {
    const Pipeline p(test::stencil_graph(64));
    ThreadPool pool(2);
    NestInterner interner(p.editor, pool);
    const LoopNestPtr kept = interner.intern(p.tree(kTiled));
    interner.intern(p.editor.inline_func(kept, 1));
    EXPECT_EQ(interner.size(), 2u);
    interner.trim();
    EXPECT_EQ(interner.size(), 1u);
    EXPECT_EQ(interner.intern(p.tree(kTiled))->children[0], kept->children[0]);
}

}  // namespace
}  // namespace anderson2021
