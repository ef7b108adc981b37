// Mistakes of the user, and what the message says about them.
#include <functional>
#include <gtest/gtest.h>

#include "built_graph.h"

namespace anderson2021 {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace): the language of the pipelines
using test::estimate;
using test::image;
using test::user_error_of;

const Var x("x"), y("y"), xi("xi"), yi("yi");

void expect_message(const std::string &message, const std::vector<std::string> &parts) {
    for (const std::string &part : parts) {
        EXPECT_NE(message.find(part), std::string::npos)
            << "\"" << part << "\" is missing in: " << message;
    }
}

TEST(UserErrors, NoOutputs) {
    expect_message(user_error_of({}), {"no output"});
}

TEST(UserErrors, MissingOutputEstimate) {
    Func out("out");
    out(x, y) = x + y;
    out.set_estimate(x, 0, 10);
    expect_message(user_error_of({out}), {out.name(), "\"y\"", "set_estimate"});
}

TEST(UserErrors, EmptyOutputEstimate) {
    Func out("out");
    out(x) = x;
    out.set_estimate(x, 0, 0);
    expect_message(user_error_of({out}), {out.name(), "extent of 0"});
}

TEST(UserErrors, OutputEstimateThatIsNotConstant) {
    Func out("out");
    Param<int> n("n");
    out(x) = x;
    out.set_estimate(x, 0, n);
    expect_message(user_error_of({out}), {out.name(), "\"x\"", "not constant"});
}

TEST(UserErrors, MissingParameterEstimate) {
    Func f("f"), out("out");
    Param<int> shift("shift");
    f(x) = x;
    out(x) = f(x + shift);
    estimate(out, {64});
    expect_message(user_error_of({out}), {"\"shift\"", "shift.set_estimate"});
    shift.set_estimate(3);
    EXPECT_EQ(user_error_of({out}), "");
}

TEST(UserErrors, ParametersThatBoundNothingNeedNoEstimate) {
    Func f("f"), out("out");
    Param<float> gain("gain");
    f(x) = cast<float>(x);
    out(x) = f(x) * gain;
    estimate(out, {64});
    EXPECT_EQ(user_error_of({out}), "");
}

TEST(UserErrors, MissingBufferEstimate) {
    Func f("f"), out("out");
    ImageParam in(Float(32), 2, "photo");
    f(x, y) = in(clamp(x, 0, in.width() - 1), y);
    out(x, y) = f(clamp(x, 0, in.width() - 1), y);
    estimate(out, {64, 64});
    expect_message(user_error_of({out}),
                   {"\"photo\"", "extent", "dimension 0", "photo.set_estimates"});
}

TEST(UserErrors, CoordinatesThatDependOnStrides) {
    Func f("f"), out("out");
    ImageParam in(Float(32), 2, "photo");
    f(x) = cast<float>(x);
    out(x) = f(x + in.dim(1).stride());
    estimate(out, {64});
    expect_message(user_error_of({out}), {"\"photo\"", "stride", "dimension 1", "set_stride"});
    in.dim(1).set_stride(100);
    EXPECT_EQ(user_error_of({out}), "");
}

TEST(UserErrors, UnboundedRead) {
    Func f("f"), out("out");
    ImageParam indices = image(Int(32), "indices", {64});
    f(x) = x * x;
    out(x) = f(indices(x));
    estimate(out, {64});
    expect_message(user_error_of({out}),
                   {"\"" + out.name() + "\"", "\"" + f.name() + "\"", "dimension 0", "clamp"});
}

TEST(UserErrors, UnboundedReadOfAnInput) {
    ImageParam indices = image(Int(32), "indices", {70}), data = image(Int(32), "data", {900});
    Func out("out");
    out(x) = data(indices(x));
    estimate(out, {60});
    expect_message(user_error_of({out}),
                   {"\"" + out.name() + "\" reads input \"data\"", "dimension 0.", "clamp"});
}

TEST(UserErrors, UnboundedWrite) {
    Func f("f"), out("out");
    ImageParam indices = image(Int(32), "indices", {64});
    const RDom r(0, 64);
    f(x, y) = 0;
    f(x, indices(r)) += 1;
    out(x, y) = f(x, y);
    estimate(out, {64, 64});
    expect_message(user_error_of({out}),
                   {f.name() + ".update(0)", "unbounded", "dimension 1", "\"y\"", "clamp"});
}

TEST(UserErrors, EmptyReductionDomain) {
    Func f("f"), out("out");
    Param<int> taps("taps");
    taps.set_estimate(0);
    const RDom r(0, taps, "r");
    f(x) = 0;
    f(x) += r;
    out(x) = f(x);
    estimate(out, {64});
    expect_message(user_error_of({out}), {f.name() + ".update(0)", "extent of 0", "estimates"});
}

TEST(UserErrors, ReductionDomainThatDependsOnData) {
    Func f("f"), out("out");
    Buffer<int> sizes(4);
    const RDom r(0, sizes(Expr(3)), "r");
    f(x) = 0;
    f(x) += r;
    out(x) = f(x);
    estimate(out, {64});
    expect_message(user_error_of({out}), {f.name() + ".update(0)", "range", "not constant"});
}

TEST(UserErrors, BFloatOnCuda) {
    Func f("f"), out("out");
    f(x) = cast(BFloat(16), x);
    out(x) = cast<float>(f(x) + f(x + 1));
    estimate(out, {64});
    expect_message(user_error_of({out}), {"\"" + out.name() + "\"", "bfloat16", "CUDA", "float32"});
    EXPECT_NO_THROW(test::Built({out}, Target("x86-64-linux-metal")));
}

TEST(UserErrors, UndefinedFunc) {
    const Func out("nothing");
    expect_message(user_error_of({out}), {"nothing", "no definition"});
}

// A producer f, on which `schedule` acts, and an output.
std::string error_after(const std::function<void(Func &, Func &)> &schedule) {
    Func f("producer"), out("out");
    const RDom r(0, 8, "r");
    f(x, y) = x + y;
    f(x, y) += r;
    out(x, y) = f(x, y) + f(x + 1, y);
    estimate(out, {64, 64});
    schedule(f, out);
    return user_error_of({out});
}

TEST(ExistingSchedule, LoopOrdersAndBoundsMayStay) {
    EXPECT_EQ(error_after([](Func &f, Func &out) {
                  f.reorder(y, x);
                  f.update().reorder(y, x);
                  out.bound(x, 0, 64).reorder(y, x).bound_extent(y, 64);
                  f.align_bounds(x, 8);
                  f.trace_stores();
              }),
              "");
}

TEST(ExistingSchedule, DirectivesThatLeaveTheLoopsAloneMayStay) {
    EXPECT_EQ(error_after([](Func &f, Func &out) {
                  f.reorder_storage(y, x).align_storage(y, 8).memoize();
                  f.store_in(MemoryType::Heap);
                  f.in(out);
                  f.update().specialize(Param<bool>("b")).specialize(Param<bool>("c"));
                  f.update().specialize_fail("neither");
              }),
              "");
}

struct Directive {
    const char *name;
    std::function<void(Func &, Func &)> apply;
    const char *in_message;
};

TEST(ExistingSchedule, EveryDirectiveIsRefused) {
    const std::vector<Directive> directives = {
        {"compute_root", [](Func &f, Func &) { f.compute_root(); }, "compute_root"},
        {"compute_at", [](Func &f, Func &out) { f.compute_at(out, y); }, "compute_at"},
        {"compute_at later", [](Func &f, Func &) { f.compute_at(LoopLevel()); }, "compute_at"},
        {"store_root", [](Func &f, Func &) { f.store_root(); }, "store_root"},
        {"hoist_storage", [](Func &f, Func &) { f.hoist_storage_root(); }, "hoist_storage"},
        {"store_in", [](Func &f, Func &) { f.store_in(MemoryType::Stack); }, "store_in"},
        {"async", [](Func &f, Func &) { f.async(); }, "async"},
        {"split", [](Func &f, Func &) { f.split(x, x, xi, 8); }, "split"},
        {"split of an update", [](Func &f, Func &) { f.update().split(x, x, xi, 8); }, "update 0"},
        {"tile", [](Func &f, Func &) { f.tile(x, y, xi, yi, 8, 8); }, "tile"},
        {"fuse", [](Func &f, Func &) { f.fuse(x, y, xi); }, "fuse"},
        {"rename", [](Func &f, Func &) { f.rename(x, xi); }, "rename"},
        {"parallel", [](Func &f, Func &) { f.parallel(y); }, "parallel"},
        {"vectorize", [](Func &f, Func &) { f.vectorize(x); }, "vectorize"},
        {"unroll", [](Func &f, Func &) { f.unroll(x); }, "unroll"},
        {"gpu_blocks", [](Func &f, Func &) { f.gpu_blocks(y); }, "gpu_blocks"},
        {"gpu_threads", [](Func &f, Func &) { f.gpu_threads(x); }, "gpu_threads"},
        {"hexagon", [](Func &f, Func &) { f.hexagon(y); }, "device loop"},
        {"prefetch", [](Func &f, Func &out) { out.prefetch(f, y, y, 2); }, "prefetch"},
        {"in a specialization",
         [](Func &f, Func &) { f.specialize(Param<bool>("b")).vectorize(x); },
         "a specialization of Func"},
        {"bound_storage", [](Func &f, Func &) { f.bound_storage(x, 80); }, "bound_storage"},
        {"fold_storage", [](Func &f, Func &) { f.fold_storage(y, 8); }, "fold_storage"},
        {"in a wrapper", [](Func &f, Func &) { f.in().compute_root(); }, "compute_root"},
    };
    for (const Directive &d : directives) {
        const std::string message = error_after(d.apply);
        EXPECT_NE(message.find("already has a schedule"), std::string::npos) << d.name;
        EXPECT_NE(message.find(d.in_message), std::string::npos) << d.name << ": " << message;
        EXPECT_NE(message.find("Remove"), std::string::npos) << d.name;
    }
}

TEST(ExistingSchedule, ComputeWithIsRefused) {
    Func a("a"), b("b"), out("out");
    a(x, y) = x + y;
    b(x, y) = x - y;
    out(x, y) = a(x, y) + b(x, y);
    estimate(out, {64, 64});
    a.compute_root();
    b.compute_root().compute_with(a, y);
    expect_message(user_error_of({out}), {"already has a schedule"});
}

TEST(ExistingSchedule, NamesTheFunc) {
    expect_message(error_after([](Func &f, Func &) { f.compute_root(); }), {"Func \"producer"});
    expect_message(error_after([](Func &, Func &out) { out.vectorize(x); }), {"Func \"out"});
}

}  // namespace
}  // namespace anderson2021
