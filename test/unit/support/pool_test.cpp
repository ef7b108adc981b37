#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "support/pool.h"

namespace anderson2021 {
namespace {

struct Block {
    unsigned char *bytes;
    size_t size;
    unsigned char mark;
};

Block make_block(size_t size, unsigned char mark) {
    Block block{static_cast<unsigned char *>(pool::allocate(size)), size, mark};
    std::memset(block.bytes, mark, size);
    return block;
}

// False if somebody else has written to the block.
bool is_intact(const Block &block) {
    for (size_t i = 0; i < block.size; i++) {
        if (block.bytes[i] != block.mark) {
            return false;
        }
    }
    return true;
}

TEST(Pool, BlocksDoNotOverlap) {
    std::vector<Block> blocks;
    for (int round = 0; round < 3; round++) {
        for (size_t size = 0; size < pool::kMaxBytes + 100; size += 7) {
            blocks.push_back(make_block(size, static_cast<unsigned char>(blocks.size() % 251)));
            EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().bytes) % alignof(std::max_align_t),
                      0u);
        }
        for (size_t i = 0; i < blocks.size(); i += 2) {
            EXPECT_TRUE(is_intact(blocks[i]));
            pool::deallocate(blocks[i].bytes, blocks[i].size);
            blocks[i] = make_block(blocks[i].size, 255);
        }
    }
    for (const Block &block : blocks) {
        EXPECT_TRUE(is_intact(block));
        pool::deallocate(block.bytes, block.size);
    }
}

// One thread frees what others have allocated, over and over; without sharing lists that would take
// more memory in every round.
TEST(Pool, WhatOneThreadFreesOthersGetAgain) {
    pool::release_unused();
    size_t held = 0;
    for (int round = 0; round < 20; round++) {
        std::vector<std::vector<Block>> made(3);
        std::vector<std::thread> threads;
        for (size_t t = 0; t < made.size(); t++) {
            threads.emplace_back([&made, t] {
                for (int i = 0; i < 2000; i++) {
                    made[t].push_back(make_block(200, static_cast<unsigned char>(t)));
                }
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        for (const std::vector<Block> &blocks : made) {
            for (const Block &block : blocks) {
                ASSERT_TRUE(is_intact(block));
                pool::deallocate(block.bytes, block.size);
            }
        }
        if (round == 4) {
            held = pool::bytes_held();
        }
    }
    EXPECT_LE(pool::bytes_held(), held + held / 2);
}

TEST(Pool, GivesBackOnlyWhenNothingIsInUse) {
    const auto kept = make_pooled<std::vector<int, PoolAllocator<int>>>(100, 7);
    const size_t held = pool::bytes_held();
    pool::release_unused();
    EXPECT_EQ(pool::bytes_held(), held);
    EXPECT_EQ(kept->at(99), 7);
}

TEST(Pool, GivesEverythingBack) {
    std::thread([] { make_pooled<std::vector<int, PoolAllocator<int>>>(100, 7); }).join();
    pool::release_unused();
    EXPECT_EQ(pool::bytes_held(), 0u);
    // It goes on afterwards.
    EXPECT_EQ(*make_pooled<int>(3), 3);
}

}  // namespace
}  // namespace anderson2021
