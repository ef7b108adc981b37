// Loads of a leaf, transaction by transaction.
//
// For every access matrix: how many points does a thread access (a box that the unrolled loops
// share counts once; loops that do not move the access are hoisted), and what does one such request
// cost each warp.
#include <utility>
#include <vector>

#include "featurizer/groups/leaf_access.h"

namespace anderson2021 {

namespace {

using Spans = SmallVector<Span, 6>;

/// The producer's box that is needed along one chain of edges.
int64_t
points_along_chain(const PipelineGraph &graph, const std::vector<int> &chain, const Spans &loops) {
    const Span *consumer_loops = loops.data();
    FuncRegion between;
    for (size_t i = 0; i + 1 < chain.size(); i++) {
        const Edge &edge = graph.edge(chain[i]);
        const FuncNode &producer = graph.func(edge.producer);
        FuncRegion next(producer);
        if (producer.dims() > 0) {
            expand_footprint(edge, consumer_loops, &next.required(0));
        }
        next.derive_from_required();
        between = std::move(next);
        if (!producer.stages[0].loops.empty()) {
            consumer_loops = between.loops(0);
        }
    }
    const Edge &last = graph.edge(chain.back());
    Spans required;
    required.resize(static_cast<size_t>(graph.func(last.producer).dims()), Span::empty());
    if (!required.empty()) {
        expand_footprint(last, consumer_loops, required.data());
    }
    int64_t points = 1;
    for (const Span &span : required) {
        points = saturating_multiply(points, span.extent());
    }
    return points;
}

class LoadCounter {
public:
    LoadCounter(const LeafAccess &access, bool unrolled) : access_(access), leaf_(access.leaf()) {
        for (size_t j = 0; j < leaf_.stage.loops.size() && unrolled; j++) {
            if (leaf_.stage.loops[j].pure) {
                unrolled_loops_ |= uint64_t{1} << j;
            }
        }
        repeats_outside_ = saturating_multiply(leaf_.gpu.outer_serial,
                                               leaf_.gpu.serial_iterations_around(leaf_.func.id));
    }

    void add(const ProducerVisit &visit, LoadTraffic &loads) {
        const Site &site = leaf_.env.site_of_func(visit.producer);
        if (site.memory != MemoryType::Global && site.memory != MemoryType::Shared) {
            return;  // registers need no transactions
        }
        MemoryTraffic &total = site.memory == MemoryType::Global ? loads.global : loads.shared;
        box_points_.clear();
        for (const PlannedAccess &a : visit.accesses) {
            const PlannedMatrix &matrix = leaf_.plan.matrices[static_cast<size_t>(a.matrix)];
            const MemoryTraffic one = count(visit, matrix, site);
            const auto repeats = static_cast<double>(a.repeats);
            total.add(
                {one.transactions * repeats, one.bytes_used * repeats, one.bytes_moved * repeats});
        }
    }

private:
    /// The box needed for one pass over the loops in `moving`, at the representative position of
    /// all others.
    int64_t box_points(const ProducerVisit &visit, uint64_t moving) {
        for (const auto &known : box_points_) {
            if (known.first == moving) {
                return known.second;
            }
        }
        const FuncRegion &around = leaf_.own_region(*leaf_.grandparent);
        Spans loops;
        loops.resize(leaf_.stage.loops.size());
        for (size_t j = 0; j < loops.size(); j++) {
            const Span &whole = around.loop(leaf_.stage.index, static_cast<int>(j));
            const int64_t size = leaf_.parent.size[j];
            const bool moves = (moving >> j & 1) != 0;
            const int64_t start = whole.min + (moves ? 0 : size / 2);
            loops[j] = {start, start + (moves ? size : 1) - 1, whole.constant, whole.exact};
        }
        const int64_t points = points_along_chain(leaf_.env.graph, visit.chain, loops);
        box_points_.emplace_back(moving, points);
        return points;
    }

    /// Points of the producer that a thread accesses by this matrix.
    int64_t
    points_accessed(const ProducerVisit &visit, const PlannedMatrix &matrix, const Site &site) {
        const uint64_t varying = ~matrix.invariant_loops();
        int64_t iterations = 1;
        int64_t iterations_not_unrolled = 1;
        for (size_t j = 0; j < leaf_.parent.size.size(); j++) {
            if ((varying >> j & 1) == 0) {
                continue;
            }
            iterations = saturating_multiply(iterations, leaf_.parent.size[j]);
            if ((unrolled_loops_ >> j & 1) == 0) {
                iterations_not_unrolled =
                    saturating_multiply(iterations_not_unrolled, leaf_.parent.size[j]);
            }
        }
        const int64_t by_region = saturating_multiply(box_points(visit, unrolled_loops_ & varying),
                                                      iterations_not_unrolled);
        const int64_t by_loops = saturating_multiply(matrix.jacobian().count(), iterations);
        int64_t points = by_region;
        if (by_loops <= by_region) {
            points = by_loops;
            const int64_t width = site.memory == MemoryType::Shared
                                      ? load_width(visit.producer, matrix.jacobian(), site)
                                      : 1;
            if (points % width == 0) {
                points /= width;
            }
        }
        return saturating_multiply(points, repeats_outside_);
    }

    int64_t load_width(int producer, const AccessJacobian &jacobian, const Site &site) const {
        if (site.scheduled) {
            return access_.vector_width(jacobian, site.produce->vector_dim);
        }
        int64_t width = 1;
        for (int d = 0; d < leaf_.env.graph.func(producer).dims(); d++) {
            width = std::max(width, access_.vector_width(jacobian, d));
        }
        return width;
    }

    MemoryTraffic count(const ProducerVisit &visit, const PlannedMatrix &matrix, const Site &site) {
        const FuncNode &producer = leaf_.env.graph.func(visit.producer);
        const TrafficKind kind =
            site.memory == MemoryType::Shared ? TrafficKind::Shared : TrafficKind::Global;
        const auto points = static_cast<double>(points_accessed(visit, matrix, site));
        const FuncRegion &storage = site.store->regions->of(visit.producer);
        AccessJacobian scaled;
        const bool per_thread = !matrix.scaling_commutes() && leaf_.gpu.thread != nullptr;
        if (per_thread) {
            scaled = matrix.scaled(access_.serial_extents().to_vector());
        }
        const auto with_innermost = [&](int dim) {
            MemoryTraffic traffic;
            account(traffic,
                    kind,
                    access_.warp_access(
                        per_thread ? scaled : matrix.jacobian(), per_thread, storage, dim),
                    points,
                    leaf_.gpu.layout,
                    leaf_.env.device);
            return traffic;
        };
        if (producer.is_input) {
            return with_innermost(0);
        }
        if (site.scheduled) {
            return with_innermost(site.produce->vector_dim);
        }
        // Not placed yet: it will get the layout that suits its readers best.
        MemoryTraffic best;
        for (int d = 0; d < producer.dims(); d++) {
            const MemoryTraffic traffic = with_innermost(d);
            if (d == 0 || traffic.transactions < best.transactions) {
                best = traffic;
            }
        }
        return best;
    }

    const LeafAccess &access_;
    const LoopContext &leaf_;
    // Bit j: loop j is unrolled.
    uint64_t unrolled_loops_ = 0;
    // Iterations of the serial levels of other Funcs around the stage.
    int64_t repeats_outside_ = 1;
    // Of the current visit, by the loops that move.
    std::vector<std::pair<uint64_t, int64_t>> box_points_;
};

}  // namespace

void add_loads(const LeafAccess &access, bool unrolled, LoadTraffic &loads) {
    LoadCounter counter(access, unrolled);
    for (const ProducerVisit &visit : access.leaf().plan.visits) {
        counter.add(visit, loads);
    }
}

}  // namespace anderson2021
