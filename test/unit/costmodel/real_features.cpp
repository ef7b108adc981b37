#include "real_features.h"

#include <utility>

#include "featurizer_fixtures.h"
#include "graph_fixtures.h"
#include "synthetic.h"

namespace anderson2021 {
namespace test {

namespace {

FeaturizedPipeline featurize_walks(const char *name, PipelineGraph graph, int walks) {
    const FeaturizerFixture fixture(std::move(graph));
    const std::vector<int> order = fixture.graph().record_order();
    FeaturizedPipeline result{name, synthetic_pipeline(static_cast<int>(order.size())), {}};
    result.inputs.num_cores = fixture.options().parallelism;
    for (int seed = 1; seed <= walks; seed++) {
        RandomScheduler scheduler(fixture.editor(), static_cast<uint64_t>(seed));
        for (const LoopNestPtr &tree : scheduler.walk()) {
            const Featurization f = fixture.featurizer().featurize(tree);
            std::vector<StageRow> rows;
            for (size_t i = 0; i < order.size() && !f.unpromotable_func; i++) {
                if (f.features.has(order[i])) {
                    StageRow row;
                    row.position = static_cast<int>(i);
                    for (int k = 0; k < kNumScheduleFeatures; k++) {
                        row.features[k] = static_cast<float>(f.features.row(order[i])[k]);
                    }
                    rows.push_back(row);
                }
            }
            if (!rows.empty()) {
                result.schedules.push_back(std::move(rows));
            }
        }
    }
    return result;
}

}  // namespace

std::vector<FeaturizedPipeline> featurized_pipelines(int walks) {
    std::vector<FeaturizedPipeline> all;
    all.push_back(featurize_walks("mat_mul", mat_mul_graph(), walks));
    all.push_back(featurize_walks("harris", harris_graph(), walks));
    all.push_back(featurize_walks("histogram", histogram_graph(), walks));
    all.push_back(featurize_walks("scalar_reduction", scalar_reduction_graph(), walks));
    all.push_back(featurize_walks("stencil", stencil_graph(1 << 20), walks));
    return all;
}

}  // namespace test
}  // namespace anderson2021
