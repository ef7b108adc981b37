// Samples from files, checked, grouped, split and cut into batches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/thread_pool.h"
#include "training/network.h"
#include "training/sample.h"

namespace anderson2021 {

struct DatasetOptions {
    /// Hold out by schedule instead of by pipeline.
    bool partition_schedules = false;
    /// Multiprocessors; 0: as the samples say, else 32.
    int num_cores = 0;
    /// At most so many schedules of each pipeline, those with the smallest hashes; 0: all.
    int64_t limit = 0;
    /// Pipelines to be left out, with their variants <name>_... and <name>-...
    std::vector<std::string> exclude;
    /// Run times need not be given: a teacher will predict them.
    bool needs_runtimes = true;
    /// Directory where .sample files that were read are kept in packed form, for the next time the
    /// same ones are asked for; empty: nowhere.
    std::string cache;
    /// For reading; 0: all cores.
    int threads = 0;
};

/// A schedule with all that was measured of it.
struct DatasetEntry {
    uint64_t hash = 0;
    int32_t schedule_id = 0;
    /// ms, smallest first.
    std::vector<float> runtimes;
    /// File, or pipeline and seed.
    std::string name;
    std::vector<float> schedule;
    /// Filled in by evaluation, ms.
    float prediction = 0;

    float runtime() const { return runtimes.front(); }
};

struct DatasetPipeline {
    SampledPipeline info;
    SparseAlgorithm algorithm;
    /// Ascending by hash; sets are apart.
    std::vector<DatasetEntry> training, validation;
};

/// What was left out, and why.
struct LoadReport {
    int64_t files = 0, samples = 0, unique = 0;
    /// Files whose content came from the cache.
    int64_t cached_files = 0;
    int64_t skipped_files = 0, skipped_samples = 0;
    /// The first few reasons.
    std::vector<std::string> messages;
    std::string best_name;
    float best_runtime = 0;
    int32_t best_schedule_id = 0;

    void skip_file(const std::string &reason);
    void skip_sample(const std::string &reason);
};

class Dataset {
public:
    /// Reads .sample files, packed .samples files and directories of both.
    ///
    /// A missing, cut-off or empty .sample file and a sample with a useless run time or feature are
    /// skipped and counted. Throws UserError for what would spoil everything: features as the
    /// Halide 21 plugin computes them, other feature versions, damaged packed files, and if nothing
    /// is left.
    static Dataset
    load(const std::vector<std::string> &paths, const DatasetOptions &options, LoadReport &report);

    /// Ascending by id, then hash. With addresses that last as long as the dataset.
    std::vector<std::unique_ptr<DatasetPipeline>> pipelines;

    int64_t num_schedules(bool validation) const;
    /// Standard deviation of repeated measurements, ms, per pipeline; 0 without any.
    static double noise_level(const DatasetPipeline &pipeline);
    /// Hash of everything that training depends on.
    uint64_t fingerprint() const;
};

/// Schedules of one pipeline that are trained on together.
struct Batch {
    DatasetPipeline *pipeline = nullptr;
    bool validation = false;
    /// Range in the pipeline's entries.
    size_t first = 0, count = 0;
    std::vector<Unit> units;

    std::vector<DatasetEntry> &entries() const {
        return validation ? pipeline->validation : pipeline->training;
    }
};

/// Batches of 64; a rest of up to 8 goes to the batch before it. Units are filled in parallel.
std::vector<Batch> make_batches(Dataset &dataset, bool validation, int num_cores, ThreadPool &pool);

/// Cores that a pipeline's schedules are for: the given number, else the samples', else 32.
int cores_of(const SampledPipeline &pipeline, int num_cores);

}  // namespace anderson2021
