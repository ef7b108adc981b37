#include "featurizer/groups/read_boxes.h"

#include "support/pool.h"

namespace anderson2021 {

int64_t ReadBoxes::points(int step, uint64_t moving) {
    Boxes &boxes = boxes_for(moving);
    if (boxes.last_step == step) {
        return boxes.last_points;
    }
    const PathStep &last = leaf_.plan.steps[static_cast<size_t>(step)];
    const Edge &edge = leaf_.env.graph.edge(last.edge);
    SmallVector<Span, 6> required;
    required.resize(static_cast<size_t>(leaf_.env.graph.func(edge.producer).dims()), Span::empty());
    if (!required.empty()) {
        expand_footprint(edge, loops_after(boxes, last.before), required.data());
    }
    int64_t points = 1;
    for (const Span &span : required) {
        points = saturating_multiply(points, span.extent());
    }
    boxes.last_step = step;
    boxes.last_points = points;
    return points;
}

ReadBoxes::Boxes &ReadBoxes::boxes_for(uint64_t moving) {
    for (const std::shared_ptr<Boxes> &known : boxes_) {
        if (known->moving == moving) {
            return *known;
        }
    }
    auto fresh = make_pooled<Boxes>();
    fresh->moving = moving;
    const FuncRegion &around = leaf_.own_region(*leaf_.grandparent);
    for (size_t j = 0; j < leaf_.stage.loops.size(); j++) {
        const Span &whole = around.loop(leaf_.stage.index, static_cast<int>(j));
        const int64_t size = leaf_.parent.size[j];
        const bool moves = (moving >> j & 1) != 0;
        const int64_t start = whole.min + (moves ? 0 : size / 2);
        fresh->loops.push_back(
            {start, start + (moves ? size : 1) - 1, whole.constant, whole.exact});
    }
    boxes_.push_back(fresh);
    return *fresh;
}

const Span *ReadBoxes::loops_after(Boxes &boxes, int step) const {
    if (step < 0) {
        return boxes.loops.data();
    }
    boxes.between.resize(leaf_.plan.steps.size());
    std::unique_ptr<const FuncRegion> &known = boxes.between[static_cast<size_t>(step)];
    const PathStep &path = leaf_.plan.steps[static_cast<size_t>(step)];
    const Edge &edge = leaf_.env.graph.edge(path.edge);
    const FuncNode &producer = leaf_.env.graph.func(edge.producer);
    if (producer.stages[0].loops.empty()) {
        return loops_after(boxes, path.before);
    }
    if (known == nullptr) {
        auto region = std::make_unique<FuncRegion>(producer);
        expand_footprint(edge, loops_after(boxes, path.before), &region->required(0));
        region->derive_from_required();
        known = std::move(region);
    }
    return known->loops(0);
}

}  // namespace anderson2021
