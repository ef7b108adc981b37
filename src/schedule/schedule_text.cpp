#include "schedule/schedule_text.h"

#include <algorithm>
#include <sstream>

namespace anderson2021 {

namespace {

// More inlined Funcs than this are printed by id instead of in order of insertion.
constexpr size_t kMaxInsertionOrder = 4;

class Printer {
public:
    Printer(const PipelineGraph &graph, bool reference_dialect)
        : graph_(graph), reference_dialect_(reference_dialect) {}

    /// `parent` is null at the root.
    void print(const LoopNest &nest, const LoopNest *parent, const std::string &indent) {
        if (parent == nullptr) {
            out_ << " gpu_none\n";
        } else {
            out_ << indent;
            print_level(nest, *parent);
        }
        const std::string inner = parent == nullptr ? indent : indent + " ";
        nest.for_each_stored(reference_dialect_, [&](int f) {
            out_ << inner;
            print_realize(nest.regions->of(f));
        });
        for (auto c = nest.children.rbegin(); c != nest.children.rend(); ++c) {
            print(**c, &nest, inner);
        }
        print_inlined(nest, inner);
    }

    std::string text() const { return out_.str(); }

private:
    void print_level(const LoopNest &nest, const LoopNest &parent) {
        out_ << graph_.func(nest.func).name;
        const Span *const loops = parent.regions->of(nest.func).loops(nest.stage_index);
        for (size_t i = 0; i < nest.size.size(); i++) {
            out_ << " " << nest.size[i];
            if (nest.innermost && static_cast<int>(i) == nest.lane_loop) {
                out_ << "v";
            }
            if (loops[i].constant) {
                out_ << "c";
            }
        }
        out_ << " (" << nest.lane_loop << ", " << nest.vector_dim << ")"
             << (nest.innermost ? " *" : " t") << " gpu_" << gpu_axis_name(nest.axis) << "\n";
    }

    void print_realize(const FuncRegion &region) {
        out_ << "realize: " << region.func().name << " [";
        for (int d = 0; d < region.func().dims(); d++) {
            const Span &s = region.computed(d);
            out_ << (d == 0 ? "" : ", ") << s.extent() << (s.constant ? "c" : "");
        }
        out_ << "] with " << region.func().num_stages() << " stages\n";
    }

    void print_inlined(const LoopNest &nest, const std::string &indent) {
        std::vector<InlinedCall> calls = nest.inlined;
        if (calls.size() > kMaxInsertionOrder) {
            std::sort(calls.begin(), calls.end(), [](const InlinedCall &a, const InlinedCall &b) {
                return a.func < b.func;
            });
        }
        for (const InlinedCall &c : calls) {
            out_ << indent << "inlined: " << graph_.func(c.func).name << " " << c.calls << "\n";
        }
    }

    const PipelineGraph &graph_;
    const bool reference_dialect_;
    std::ostringstream out_;
};

}  // namespace

std::string
print_schedule(const LoopNest &root, const PipelineGraph &graph, bool reference_dialect) {
    Printer printer(graph, reference_dialect);
    printer.print(root, nullptr, "");
    return printer.text();
}

}  // namespace anderson2021
