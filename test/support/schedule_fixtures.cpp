#include "schedule_fixtures.h"

#include "schedule/schedule_rebuilder.h"

namespace anderson2021 {
namespace test {

LoopNestPtr Pipeline::tree(const std::string &text) const {
    return rebuild_schedule(parse_schedule(text, "test"), editor, /*complete=*/false);
}

LoopNestPtr Pipeline::place_at_root(const LoopNestPtr &root, int func, int vector_dim) const {
    std::vector<LoopNestPtr> children = root->children;
    for (LoopNestPtr &n : editor.place(func, vector_dim, *root, /*in_thread=*/false)) {
        children.push_back(std::move(n));
    }
    return editor.with_children(*root, std::move(children));
}

LoopNestPtr Pipeline::tile_at_root(const LoopNestPtr &root,
                                   int func,
                                   const std::vector<int64_t> &serial,
                                   const std::vector<int64_t> &threads) const {
    std::vector<LoopNestPtr> children = root->children;
    for (LoopNestPtr &c : children) {
        if (c->func == func) {
            const LoopNestPtr tiles = editor.split(*c, serial, *root, SplitOptions());
            c = editor.split(*tiles, threads, *root, SplitOptions());
        }
    }
    return editor.with_children(*root, std::move(children));
}

const LoopNest *find_nest(const LoopNest &root, int stage_id, GpuAxis axis) {
    if (root.stage_id == stage_id && root.axis == axis && !root.is_root()) {
        return &root;
    }
    for (const LoopNestPtr &c : root.children) {
        const LoopNest *const found = find_nest(*c, stage_id, axis);
        if (found != nullptr) {
            return found;
        }
    }
    return nullptr;
}

const char *const kMatMulAtRoot = R"( gpu_none
realize: out [1024c, 1024c] with 1 stages
realize: prod [1024c, 1024c] with 2 stages
prod 16c 256c (0, 0) t gpu_block
 prod 64c 1c (0, 0) t gpu_thread
  prod 1c 4c (0, 0) t gpu_serial
   prod 1vc 1c (0, 0) * gpu_simd
prod 1c 16c 256c (1, 0) t gpu_block
 prod 1c 64c 1c (1, 0) t gpu_thread
  prod 1024c 1c 4c (1, 0) t gpu_serial
   prod 1c 1vc 1c (1, 0) * gpu_simd
out 16c 256c (0, 0) t gpu_block
 out 64c 1c (0, 0) t gpu_thread
  out 1c 4c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
)";

const char *const kMatMulInBlock = R"( gpu_none
realize: out [1024c, 1024c] with 1 stages
out 16c 256c (0, 0) t gpu_block
 realize: prod [64c, 4c] with 2 stages
 prod 64c 1c (0, 0) t gpu_thread
  prod 1c 4c (0, 0) t gpu_serial
   prod 1vc 1c (0, 0) * gpu_simd
 prod 1c 64c 1c (1, 0) t gpu_thread
  prod 1024c 1c 4c (1, 0) t gpu_serial
   prod 1c 1vc 1c (1, 0) * gpu_simd
 out 64c 1c (0, 0) t gpu_thread
  out 1c 4c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
)";

const char *const kMatMulInThread = R"( gpu_none
realize: out [1024c, 1024c] with 1 stages
out 16c 256c (0, 0) t gpu_block
 out 64c 1c (0, 0) t gpu_thread
  realize: prod [1c, 4c] with 2 stages
  prod 1c 4c (0, 0) t gpu_serial
   prod 1vc 1c (0, 0) * gpu_simd
  prod 1024c 1c 4c (1, 0) t gpu_serial
   prod 1c 1vc 1c (1, 0) * gpu_simd
  out 1c 4c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
)";

const char *const kHarrisFused = R"( gpu_none
realize: output [1530, 2554] with 1 stages
output 48 80 (0, 0) t gpu_block
 realize: Syy [32c, 32c] with 1 stages
 realize: Iy [34c, 34c] with 1 stages
 realize: gray [36c, 36c] with 1 stages
 gray 36c 4c (0, 0) t gpu_thread
  gray 1c 9c (0, 0) t gpu_serial
   gray 1vc 1c (0, 0) * gpu_simd
 Iy 34c 4c (0, 0) t gpu_thread
  Iy 1c 9c (0, 0) t gpu_serial
   Iy 1vc 1c (0, 0) * gpu_simd
 Syy 32c 4c (0, 0) t gpu_thread
  Syy 1c 8c (0, 0) t gpu_serial
   Syy 1vc 1c (0, 0) * gpu_simd
    inlined: Iyy 9
 output 32c 4c (0, 0) t gpu_thread
  output 1c 8c (0, 0) t gpu_serial
   realize: Sxx [1c, 1c] with 1 stages
   realize: Ix [3c, 3c] with 1 stages
   Ix 3c 3c (0, 0) t gpu_serial
    Ix 1vc 1c (0, 0) * gpu_simd
   Sxx 1c 1c (0, 0) t gpu_serial
    Sxx 1vc 1c (0, 0) * gpu_simd
     inlined: Ixx 9
   output 1vc 1c (0, 0) * gpu_simd
    inlined: trace 1
    inlined: det 1
    inlined: Sxy 1
    inlined: Ixy 9
)";

}  // namespace test
}  // namespace anderson2021
