#include "schedule_checker.h"

#include <cstdlib>
#include <iostream>

#include "backend/apply_trace.h"
#include "frontend/graph_builder.h"
#include "lowering/lower_schedule.h"
#include "schedule/nest_verifier.h"
#include "schedule/schedule_text.h"

namespace anderson2021 {
namespace test {

ScheduleChecker::ScheduleChecker(std::function<TestPipeline()> make) : make_(std::move(make)) {
    TestPipeline reference = make_();
    reference.compute_everything_at_root();
    for (const std::vector<int> &extents : run_sizes(reference)) {
        Expected e;
        e.inputs = make_inputs(reference, extents);
        e.outputs = run(reference, e.inputs, extents, Halide::get_host_target());
        expected_.push_back(std::move(e));
    }
}

std::string
ScheduleChecker::check(const std::function<LoopNestPtr(const LoopNestEditor &)> &make_tree) {
    TestPipeline p = make_();
    p.set_output_estimates();
    const GpuDevice device;
    const BuiltGraph built = build_graph(p.output_functions(), device_target());
    RegionStore store(*built.graph);
    const LoopNestPtr root = make_tree(LoopNestEditor(store));
    const ScheduleTrace trace = lower_schedule(*root, *built.graph, device);
    description_ = print_schedule(*root, *built.graph) + print_trace(trace, *built.graph);
    if (std::getenv("ANDERSON_FUZZ_PRINT") != nullptr) {
        std::cout << description_ << std::flush;
    }
    if (const auto broken = verify_schedule(*root, *built.graph, device)) {
        return *broken;
    }
    try {
        const CompilerMessages messages;
        apply_trace(trace, *built.graph, built.functions);
        const std::string allocations = heap_allocations_in_kernels(p);
        if (!allocations.empty()) {
            return allocations;
        }
        p.pipeline().compile_jit(device_target());
        if (!messages.bad_warnings().empty()) {
            return messages.bad_warnings();
        }
        return compare_at_all_sizes(p);
    } catch (const std::exception &e) {
        return e.what();
    }
}

std::string ScheduleChecker::compare_at_all_sizes(TestPipeline &p) const {
    const std::vector<std::vector<int>> sizes = run_sizes(p);
    for (size_t i = 0; i < sizes.size(); i++) {
        const std::vector<Image> actual = run(p, expected_[i].inputs, sizes[i], device_target());
        const std::string d = difference(expected_[i].outputs, actual);
        if (!d.empty()) {
            return "size " + std::to_string(i) + ": " + d;
        }
    }
    return "";
}

}  // namespace test
}  // namespace anderson2021
