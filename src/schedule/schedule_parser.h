// Reads the text form of a schedule tree, complete or in part, and compares trees with it.
//
// Blank lines and lines that start with # are ignored, the line of the root is optional. Both
// dialects are understood: a `realize:` line next to which no level of that Func stands says
// nothing about where the Func is computed and is ignored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schedule/loop_nest.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// `realize: prod [64c, 4c] with 2 stages`
struct ParsedRealize {
    std::string func;
    Extents extents;
    int num_stages = 0;
    int line = 0;
};

/// `inlined: Ixx 9`
struct ParsedInline {
    std::string func;
    int64_t calls = 0;
    int line = 0;
};

/// `prod 64c 1c (0, 0) t gpu_thread` with everything indented below it.
struct ParsedNest {
    std::string func;
    Extents size;
    int lane_loop = -1;
    int vector_dim = -1;
    bool innermost = false;
    GpuAxis axis = GpuAxis::None;
    /// Leading blanks.
    int indent = 0;
    int line = 0;
    std::vector<ParsedRealize> realized;
    std::vector<ParsedInline> inlined;
    /// In the order of the text, i.e. last placed first.
    std::vector<ParsedNest> children;
};

/// What a text says about one Func.
struct ParsedFunc {
    /// Line number and normalised text of every line about the Func.
    std::vector<std::pair<int, std::string>> lines;
    /// Of every level, in the order of the text: the line, and the Func whose level it stands
    /// directly below, be it this one; empty if there is none.
    std::vector<std::pair<int, std::string>> inside;
    bool inlined = false;
    /// Has a level directly below the root; then vector_dim is known.
    bool at_root = false;
    int vector_dim = -1;
    /// The level below the root is labelled gpu_none, that is, not tiled yet.
    bool untiled = false;
};

/// A text as a tree. Of a text about a subset of the Funcs, levels without a parent hang on
/// whatever stands above them.
struct ParsedSchedule {
    /// Where the text comes from, for messages.
    std::string source;
    /// Levels below the root, in the order of the text.
    std::vector<ParsedNest> nests;
    std::vector<ParsedRealize> realized;
    std::map<std::string, ParsedFunc> funcs;
};

/// Throws UserError (`source`:line: reason) for malformed text.
ParsedSchedule parse_schedule(const std::string &text, const std::string &source);

/// Throws UserError if the file cannot be read or is malformed.
ParsedSchedule read_schedule_file(const std::string &path);

/// Throws UserError naming the first line about a Func that the pipeline does not have.
void check_func_names(const ParsedSchedule &schedule, const PipelineGraph &graph);

/// Whether the (partial) tree agrees with the text. Only Funcs that are present in both can
/// disagree: their levels must be the same, line by line, and inside of the same Func if the text
/// tells about that one, too, and a Func that one side inlines must be
/// inlined by the other (how often does not count). An untiled Func of the tree only has to be at
/// the root of the text, too, with the same vector dimension.
///
/// If not, `mismatch` (may be null) is set to the first difference, for the user.
bool matches(const ParsedSchedule &schedule,
             const LoopNest &root,
             const PipelineGraph &graph,
             std::string *mismatch);

}  // namespace anderson2021
