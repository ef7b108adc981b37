#include "schedule/schedule_parser.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

#include "schedule/schedule_text.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

// Far above the text of any schedule.
constexpr size_t kLargestFile = size_t{1} << 21;

std::string strip_suffix(const std::string &s, const std::string &suffix) {
    const bool has = s.size() >= suffix.size() &&
                     s.compare(s.size() - suffix.size(), suffix.size(), suffix) == 0;
    return has ? s.substr(0, s.size() - suffix.size()) : s;
}

std::string strip_prefix(const std::string &s, const std::string &prefix) {
    return s.compare(0, prefix.size(), prefix) == 0 ? s.substr(prefix.size()) : s;
}

/// Parser of one text, line by line.
class Parser {
public:
    explicit Parser(const std::string &source) { result_.source = source; }

    ParsedSchedule parse(const std::string &text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            line_++;
            parse_line(line);
        }
        close_levels(0);
        bind_realizations();
        check_contradictions();
        return std::move(result_);
    }

private:
    [[noreturn]] void fail(const std::string &reason) const {
        fail_at(line_, (func_.empty() ? "" : "Func " + func_ + ": ") + reason);
    }

    [[noreturn]] void fail_at(int line, const std::string &reason) const {
        throw UserError(result_.source + ":" + std::to_string(line) + ": " + reason);
    }

    void parse_line(const std::string &line) {
        const size_t first = line.find_first_not_of(" \r");
        if (first == std::string::npos || line[first] == '#') {
            return;
        }
        tokens_.clear();
        func_.clear();
        std::istringstream in(line);
        for (std::string token; in >> token;) {
            tokens_.push_back(token);
        }
        if (tokens_.empty()) {
            return;  // blanks of another kind
        }
        next_ = 0;
        indent_ = static_cast<int>(first);
        if (tokens_.size() == 1 && tokens_[0] == "gpu_none") {
            return;
        }
        if (tokens_[0] == "realize:") {
            parse_realize();
        } else if (tokens_[0] == "inlined:") {
            parse_inlined();
        } else {
            parse_nest();
        }
    }

    const std::string &take(const char *what) {
        if (next_ >= tokens_.size()) {
            fail(std::string("the line ends where ") + what + " should follow");
        }
        return tokens_[next_++];
    }

    bool at_end() const { return next_ == tokens_.size(); }

    int small_number(const std::string &s, const char *what, int64_t least) const {
        const int64_t value = number(s, what, least);
        if (value > std::numeric_limits<int>::max()) {
            fail("'" + s + "' is too large for a " + what);
        }
        return static_cast<int>(value);
    }

    int64_t number(const std::string &s, const char *what, int64_t least) const {
        int64_t value = 0;
        const char *const end = s.data() + s.size();
        const auto parsed = std::from_chars(s.data(), end, value);
        if (parsed.ec != std::errc() || parsed.ptr != end || s.empty() || value < least) {
            fail(std::string("'") + s + "' is no " + what);
        }
        return value;
    }

    void expect(const char *token) {
        if (take(token) != token) {
            fail("'" + tokens_[next_ - 1] + "' where '" + token + "' should be");
        }
    }

    /// The line with its indentation and single blanks; the mark for tileable levels is left out,
    /// it says nothing about the schedule.
    std::string normalised() const {
        std::string text(static_cast<size_t>(indent_), ' ');
        for (size_t i = 0; i < tokens_.size(); i++) {
            const bool tileable = tokens_[i] == "t" && i > 0 && tokens_[i - 1].back() == ')';
            if (!tileable) {
                text += (i == 0 ? "" : " ") + tokens_[i];
            }
        }
        return text;
    }

    ParsedFunc &record(const std::string &func) {
        ParsedFunc &f = result_.funcs[func];
        f.lines.emplace_back(line_, normalised());
        return f;
    }

    void parse_realize() {
        ParsedRealize r;
        r.line = line_;
        take("realize:");
        r.func = func_ = take("a Func");
        for (bool last = false; !last;) {
            std::string s = strip_prefix(take("the region"), "[");
            last = !s.empty() && s.back() == ']';
            s = strip_suffix(strip_suffix(strip_suffix(s, "]"), ","), "c");
            if (!(last && s.empty() && r.extents.empty())) {
                r.extents.push_back(number(s, "extent", 0));
            }
        }
        expect("with");
        r.num_stages = small_number(take("the number of stages"), "number of stages", 1);
        expect("stages");
        if (!at_end()) {
            fail("unexpected '" + tokens_[next_] + "'");
        }
        realizations_.push_back({indent_, r, normalised()});
        close_levels(indent_);
        (open_.empty() ? result_.realized : open_.back().realized).push_back(std::move(r));
        siblings_.push_back({indent_, "", line_});
    }

    void parse_inlined() {
        ParsedInline i;
        i.line = line_;
        take("inlined:");
        i.func = func_ = take("a Func");
        i.calls = number(take("the number of calls"), "number of calls", 1);
        if (!at_end()) {
            fail("unexpected '" + tokens_[next_] + "'");
        }
        result_.funcs[i.func].inlined = true;
        close_levels(indent_);
        if (!open_.empty()) {
            open_.back().inlined.push_back(std::move(i));
        }
    }

    void parse_nest() {
        ParsedNest nest;
        nest.line = line_;
        nest.indent = indent_;
        nest.func = func_ = take("a Func");
        const std::string *token = &take("a size");
        int lane_mark = -1;
        for (; (*token)[0] != '('; token = &take("the lane loop")) {
            std::string s = strip_suffix(*token, "c");
            if (s.size() > 1 && s.back() == 'v') {
                lane_mark = static_cast<int>(nest.size.size());
                s.pop_back();
            }
            nest.size.push_back(number(s, "size", 1));
        }
        parse_lane_and_dim(*token, nest);
        if (lane_mark >= 0 && lane_mark != nest.lane_loop) {
            fail("size " + std::to_string(lane_mark) + " is marked as the lane loop, but (" +
                 std::to_string(nest.lane_loop) + ", ...) says otherwise");
        }
        parse_label(nest);

        ParsedFunc &func = record(nest.func);
        if (indent_ == 0) {
            func.at_root = true;
            func.vector_dim = nest.vector_dim;
            func.untiled = func.untiled || nest.axis == GpuAxis::None;
        }
        close_levels(indent_);
        const bool is_below = !open_.empty() && open_.back().indent == indent_ - 1;
        func.inside.emplace_back(line_, is_below ? open_.back().func : "");
        siblings_.push_back({indent_, nest.func, line_});
        open_.push_back(std::move(nest));
    }

    void parse_lane_and_dim(const std::string &lane, ParsedNest &nest) {
        if (lane.size() < 3 || lane.back() != ',') {
            fail("'" + lane + "' should be '(<lane loop>,'");
        }
        nest.lane_loop = small_number(lane.substr(1, lane.size() - 2), "lane loop", -1);
        const std::string &dim = take("the vector dimension");
        if (dim.back() != ')') {
            fail("'" + dim + "' should be '<vector dimension>)'");
        }
        nest.vector_dim = small_number(strip_suffix(dim, ")"), "vector dimension", -1);
        if (nest.lane_loop >= static_cast<int>(nest.size.size())) {
            fail("there is no loop " + std::to_string(nest.lane_loop));
        }
    }

    void parse_label(ParsedNest &nest) {
        const std::string *token = &take("the label");
        if (*token == "t") {
            token = &take("the label");
        }
        if (*token == "*") {
            nest.innermost = true;
            token = &take("the label");
        }
        bool known = false;
        for (const GpuAxis axis : {GpuAxis::None,
                                   GpuAxis::Parallelized,
                                   GpuAxis::Block,
                                   GpuAxis::Thread,
                                   GpuAxis::Serial,
                                   GpuAxis::Simd}) {
            if (*token == std::string("gpu_") + gpu_axis_name(axis)) {
                nest.axis = axis;
                known = true;
            }
        }
        if (!known || !at_end()) {
            fail("'" + tokens_[known ? next_ : next_ - 1] + "' is no label");
        }
    }

    /// Moves all open levels with at least that indentation into their parents.
    void close_levels(int indent) {
        while (!open_.empty() && open_.back().indent >= indent) {
            ParsedNest nest = std::move(open_.back());
            open_.pop_back();
            (open_.empty() ? result_.nests : open_.back().children).push_back(std::move(nest));
        }
    }

    /// Keeps those `realize:` lines that stand next to a level of their Func, before it.
    void bind_realizations() {
        for (const Realization &r : realizations_) {
            const auto below = std::upper_bound(
                siblings_.begin(),
                siblings_.end(),
                r.parsed.line,
                [](int line, const Sibling &sibling) { return line < sibling.line; });
            for (auto next = below; next != siblings_.end(); ++next) {
                const Sibling &s = *next;
                if (s.indent < r.indent) {
                    break;
                }
                if (s.indent == r.indent && s.func == r.parsed.func) {
                    auto &lines = result_.funcs[r.parsed.func].lines;
                    lines.emplace(lines.begin(), r.parsed.line, r.text);
                    break;
                }
            }
        }
    }

    void check_contradictions() const {
        for (const auto &f : result_.funcs) {
            if (f.second.inlined && !f.second.lines.empty()) {
                fail_at(f.second.lines[0].first, "Func " + f.first + " is inlined elsewhere");
            }
        }
    }

    struct Realization {
        int indent;
        ParsedRealize parsed;
        std::string text;
    };
    struct Sibling {
        int indent;
        std::string func;
        int line;
    };

    ParsedSchedule result_;
    int line_ = 0;
    int indent_ = 0;
    std::vector<std::string> tokens_;
    // What the line is about, once that is known.
    std::string func_;
    size_t next_ = 0;
    std::vector<ParsedNest> open_;
    std::vector<Realization> realizations_;
    std::vector<Sibling> siblings_;
};

/// First difference between two texts about one Func, or an empty string.
std::string difference(const ParsedFunc &expected, const ParsedFunc &found) {
    const auto quote = [](const std::string &s) { return "'" + s + "'"; };
    for (size_t i = 0; i < expected.lines.size(); i++) {
        const auto &want = expected.lines[i];
        const std::string where = "line " + std::to_string(want.first) + " " + quote(want.second);
        if (i >= found.lines.size()) {
            return where + " has no counterpart";
        }
        if (found.lines[i].second != want.second) {
            return where + " against " + quote(found.lines[i].second);
        }
    }
    if (found.lines.size() > expected.lines.size()) {
        return quote(found.lines[expected.lines.size()].second) + " is not in the text";
    }
    return "";
}

/// The first level that stands in another Func than it should. Where the text is silent about that
/// Func, it may have been left out.
std::string
misplaced(const ParsedFunc &expected, const ParsedFunc &found, const ParsedSchedule &schedule) {
    for (size_t i = 0; i < std::min(expected.inside.size(), found.inside.size()); i++) {
        const std::string &want = expected.inside[i].second, &have = found.inside[i].second;
        if (!want.empty() && want != have && schedule.funcs.count(have) != 0) {
            return "line " + std::to_string(expected.inside[i].first) + " stands in " + want +
                   " instead of " + have;
        }
    }
    return "";
}

/// @param may_be_tiled  if it is at the root of the tree and untiled
std::string compare(const ParsedFunc &expected,
                    const ParsedFunc &found,
                    const ParsedSchedule &schedule,
                    bool may_be_tiled) {
    if (expected.inlined != found.inlined) {
        return expected.inlined ? "should be inlined" : "should not be inlined";
    }
    if (found.untiled && may_be_tiled) {
        if (!expected.at_root) {
            return "should not be computed at the root";
        }
        if (expected.vector_dim != found.vector_dim) {
            return "vector dimension " + std::to_string(found.vector_dim) + " instead of " +
                   std::to_string(expected.vector_dim);
        }
        return "";
    }
    const std::string first = difference(expected, found);
    return first.empty() ? misplaced(expected, found, schedule) : first;
}

}  // namespace

ParsedSchedule parse_schedule(const std::string &text, const std::string &source) {
    return Parser(source).parse(text);
}

ParsedSchedule read_schedule_file(const std::string &path) {
    std::error_code ignored;
    const bool directory = std::filesystem::is_directory(path, ignored);
    std::ifstream in(path, std::ios::binary);
    if (directory || !in) {
        throw UserError("Cannot read the schedule file " + path +
                        "; check the path or leave the option out");
    }
    // Not to the end of something that has none.
    std::string text(kLargestFile + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in.gcount()));
    if (in.bad()) {
        throw UserError("Cannot read the schedule file " + path);
    }
    if (text.size() > kLargestFile) {
        throw UserError("The schedule file " + path + " has more than " +
                        std::to_string(kLargestFile) + " bytes; it is none");
    }
    return parse_schedule(text, path);
}

void check_func_names(const ParsedSchedule &schedule, const PipelineGraph &graph) {
    for (const auto &f : schedule.funcs) {
        if (graph.find_func(f.first) < 0) {
            throw UserError(schedule.source + ": the pipeline has no Func " + f.first +
                            " (names include suffixes such as $1)");
        }
    }
}

bool matches(const ParsedSchedule &schedule,
             const LoopNest &root,
             const PipelineGraph &graph,
             std::string *mismatch) {
    const ParsedSchedule found = parse_schedule(print_schedule(root, graph), "the candidate");
    for (const auto &f : found.funcs) {
        const auto expected = schedule.funcs.find(f.first);
        if (expected == schedule.funcs.end()) {
            continue;
        }
        // What has no dimensions never is.
        const bool may_be_tiled = !graph.func(graph.find_func(f.first)).args.empty();
        const std::string reason = compare(expected->second, f.second, schedule, may_be_tiled);
        if (!reason.empty()) {
            if (mismatch != nullptr) {
                *mismatch = "Func " + f.first + ": " + reason;
            }
            return false;
        }
    }
    return true;
}

}  // namespace anderson2021
