// Loads of a leaf, transaction by transaction.
//
// For every access matrix: how many points does a thread access (a box that the unrolled loops
// share counts once; loops that do not move the access are hoisted), and what does one such request
// cost each warp.
#include <algorithm>
#include <utility>
#include <vector>

#include "featurizer/groups/leaf_access.h"
#include "featurizer/groups/read_boxes.h"

namespace anderson2021 {

namespace {

class LoadCounter {
public:
    LoadCounter(const LeafAccess &access, bool unrolled)
        : access_(access), leaf_(access.leaf()), boxes_(leaf_) {
        for (size_t j = 0; j < leaf_.stage.loops.size() && unrolled; j++) {
            if (leaf_.stage.loops[j].pure) {
                unrolled_loops_ |= uint64_t{1} << j;
            }
        }
        const std::vector<ProducerVisit> &visits = leaf_.plan.visits;
        if (std::any_of(visits.begin(), visits.end(), [](const auto &v) { return !v.first; })) {
            known_costs_.resize(leaf_.plan.matrices.size());
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
        for (const PlannedAccess &a : visit.accesses) {
            const PlannedMatrix &matrix = leaf_.plan.matrices[static_cast<size_t>(a.matrix)];
            const MemoryTraffic one = count(visit, matrix, site);
            const auto repeats = static_cast<double>(a.repeats);
            total.add(
                {one.transactions * repeats, one.bytes_used * repeats, one.bytes_moved * repeats});
        }
    }

private:
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
        const int64_t by_region = saturating_multiply(
            boxes_.points(visit.step, unrolled_loops_ & varying), iterations_not_unrolled);
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
        const auto with_innermost = [&](int dim) {
            MemoryTraffic traffic;
            if (leaf_.gpu.layout != nullptr) {
                account(traffic,
                        costs(kind, matrix, storage, dim),
                        points,
                        *leaf_.gpu.layout,
                        transaction_bytes(kind, leaf_.env.device));
            } else {
                account(traffic,
                        kind,
                        warp_access(matrix, storage, dim),
                        points,
                        nullptr,
                        leaf_.env.device);
            }
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

    WarpAccess warp_access(const PlannedMatrix &matrix, const FuncRegion &storage, int innermost) {
        const bool per_thread = !matrix.scaling_commutes() && leaf_.gpu.thread != nullptr;
        if (!per_thread) {
            return access_.warp_access(matrix.jacobian(), false, storage, innermost);
        }
        const AccessJacobian scaled = matrix.scaled(access_.serial_extents().to_vector());
        return access_.warp_access(scaled, true, storage, innermost);
    }

    WarpCosts
    costs(TrafficKind kind, const PlannedMatrix &matrix, const FuncRegion &storage, int innermost) {
        const auto fresh = [&] {
            const WarpAccess access = warp_access(matrix, storage, innermost);
            return warp_costs(kind, access, *leaf_.gpu.layout, leaf_.env.device);
        };
        if (known_costs_.empty()) {
            return fresh();
        }
        // A matrix belongs to one producer, so storage and kind are always the same.
        auto &known = known_costs_[static_cast<size_t>(&matrix - leaf_.plan.matrices.data())];
        for (const auto &entry : known) {
            if (entry.first == innermost) {
                return entry.second;
            }
        }
        known.emplace_back(innermost, fresh());
        return known.back().second;
    }

    const LeafAccess &access_;
    const LoopContext &leaf_;
    // Bit j: loop j is unrolled.
    uint64_t unrolled_loops_ = 0;
    // Iterations of the serial levels of other Funcs around the stage.
    int64_t repeats_outside_ = 1;
    ReadBoxes boxes_;
    // Per matrix, by the innermost dimension of the storage. Empty if no matrix comes up twice.
    std::vector<std::vector<std::pair<int, WarpCosts>>> known_costs_;
};

}  // namespace

void add_loads(const LeafAccess &access, bool unrolled, LoadTraffic &loads) {
    LoadCounter counter(access, unrolled);
    for (const ProducerVisit &visit : access.leaf().plan.visits) {
        counter.add(visit, loads);
    }
}

}  // namespace anderson2021
