#include "tools/with_compiler/sampler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "costmodel/aot_cost_model.h"
#include "schedule/regions.h"
#include "search/depth_hash.h"
#include "search/schedule_sampler.h"
#include "search/search.h"
#include "support/error.h"
#include "support/thread_pool.h"

namespace anderson2021 {

namespace {

// Searches that may lead to known trees before a pipeline counts as exhausted.
constexpr int64_t kPatience = 4;

AlgorithmInputs network_inputs(const SampledPipeline &pipeline, int num_cores) {
    constexpr int kTypes = kNumAlgorithmFeaturesPerRecord - kNumNetworkFeatures;
    AlgorithmInputs inputs;
    inputs.num_stages = pipeline.num_stages;
    inputs.num_cores = num_cores;
    for (int stage = 0; stage < pipeline.num_stages; stage++) {
        const auto first =
            pipeline.algorithm.begin() + stage * kNumAlgorithmFeaturesPerRecord + kTypes;
        inputs.features.insert(inputs.features.end(), first, first + kNumNetworkFeatures);
    }
    return inputs;
}

// What one thread needs for search after search.
class Worker {
public:
    Worker(const PipelineGraph &graph,
           const SamplingRequest &request,
           const AlgorithmInputs &inputs)
        : graph_(graph), request_(request), store_(graph) {
        for (const Weights &weights : request.guides) {
            guides_.push_back(make_aot_cost_model(weights));
            guides_.back()->begin(inputs);
            samplers_.push_back(std::make_unique<ScheduleSampler>(
                graph, store_, request.device, request.options, *guides_.back()));
        }
        for (const Weights &weights : request.teachers) {
            teachers_.push_back(make_aot_cost_model(weights));
            teachers_.back()->begin(inputs);
        }
    }

    // Nothing if the seed leads to no legal schedule.
    std::optional<Sample> sample(int64_t seed);

private:
    float label(const std::vector<StageRow> &rows);
    SearchResult search_best(int64_t seed, CostModel &guide);

    const PipelineGraph &graph_;
    const SamplingRequest &request_;
    RegionStore store_;
    std::vector<std::unique_ptr<CostModel>> guides_, teachers_;
    // One per guide.
    std::vector<std::unique_ptr<ScheduleSampler>> samplers_;
};

std::optional<Sample> Worker::sample(int64_t seed) {
    const auto sampler = static_cast<size_t>(seed) % samplers_.size();
    SearchResult found;
    try {
        found = request_.whole_searches ? search_best(seed, *guides_[sampler])
                                        : samplers_[sampler]->sample(seed);
    } catch (const UserError &) {
        return std::nullopt;
    }
    Sample sample;
    sample.seed = seed;
    sample.schedule_id = static_cast<int32_t>(seed);
    sample.tree_hash = full_hash(*found.best);
    sample.prediction = static_cast<float>(found.cost);
    std::vector<StageRow> rows;
    for (const int stage : graph_.record_order()) {
        StageRow row;
        row.position = static_cast<int>(rows.size());
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            row.features[i] = static_cast<float>(found.features.row(stage)[i]);
            sample.schedule.push_back(row.features[i]);
        }
        rows.push_back(row);
    }
    sample.hash = schedule_hash(sample.schedule.data(), static_cast<int>(rows.size()));
    sample.runtime = label(rows);
    sample.source = teachers_.empty() ? LabelSource::Unknown : LabelSource::Predicted;
    return sample;
}

SearchResult Worker::search_best(int64_t seed, CostModel &guide) {
    Options options = request_.options;
    options.random_dropout_seed = seed;
    // With a single search, its own threads are all there is to run.
    options.threads = request_.count == 1 ? request_.threads : 1;
    return search(graph_, store_, request_.device, options, guide);
}

float Worker::label(const std::vector<StageRow> &rows) {
    double sum = 0;
    for (const auto &teacher : teachers_) {
        for (const float cost : teacher->predict(rows)) {
            sum += static_cast<double>(cost);
        }
    }
    return teachers_.empty() ? 0.0f : static_cast<float>(sum / double(teachers_.size()));
}

}  // namespace

SampledPipeline describe_pipeline(const PipelineGraph &graph, int num_cores) {
    SampledPipeline pipeline;
    pipeline.num_stages = static_cast<int>(graph.record_order().size());
    pipeline.num_cores = num_cores;
    for (const int stage : graph.record_order()) {
        for (const int32_t count : graph.stage(stage).features) {
            pipeline.algorithm.push_back(static_cast<float>(count));
        }
    }
    pipeline.hash = pipeline_hash(pipeline.algorithm.data(), pipeline.num_stages);
    return pipeline;
}

std::vector<Sample> sample_schedules(const PipelineGraph &graph,
                                     const SamplingRequest &request,
                                     SamplingStatistics &statistics) {
    const auto start = std::chrono::steady_clock::now();
    const int num_cores = request.device.num_sms;
    const AlgorithmInputs inputs = network_inputs(describe_pipeline(graph, num_cores), num_cores);
    ThreadPool pool(request.threads);
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < pool.num_threads(); i++) {
        workers.push_back(std::make_unique<Worker>(graph, request, inputs));
    }

    std::vector<Sample> samples;
    std::unordered_set<uint64_t> known;
    int64_t seed = request.first_seed;
    const int64_t last_seed = seed + kPatience * request.count + 16;
    while (static_cast<int>(samples.size()) < request.count && seed < last_seed) {
        // A wave of seeds of fixed size, so that the same are taken whatever the threads.
        const auto wave =
            std::min<int64_t>(last_seed - seed, request.count - int64_t(samples.size()));
        std::vector<std::optional<Sample>> found(static_cast<size_t>(wave));
        std::atomic<int64_t> next{0};
        pool.parallel_for(static_cast<int64_t>(workers.size()), [&](int64_t worker) {
            for (int64_t i = next++; i < wave; i = next++) {
                found[static_cast<size_t>(i)] =
                    workers[static_cast<size_t>(worker)]->sample(seed + i);
            }
        });
        seed += wave;
        for (std::optional<Sample> &sample : found) {
            statistics.searches++;
            if (!sample) {
                statistics.failures++;
            } else if (!known.insert(sample->tree_hash).second) {
                statistics.duplicates++;
            } else {
                samples.push_back(std::move(*sample));
            }
        }
    }
    statistics.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return samples;
}

}  // namespace anderson2021
