// Compares the compiled network with the plain one in double precision.
//
// usage: check_network [--cores <n>] <weights> ... <blob.featurization> ...
//
// <weights> is a .weights file or a folder of them; every one is tried on every blob. Prints, per
// weights, the largest differences: of a schedule's total and of a stage's cost, relative to the
// magnitudes of their terms, and of a stage relative to the magnitudes of everything that the
// network adds up on the way. A coefficient can be what is left of summands that cancel, so the
// exit status depends on the last one: it is 1 if rounding does not explain the difference.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/aot_cost_model.h"
#include "costmodel/file_bytes.h"
#include "costmodel/plain_cost_model.h"
#include "features/feature_io.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

namespace fs = std::filesystem;

// Single precision has 6e-8.
constexpr double kMostOfSummands = 1e-6;
// Records begin with the types in use, which the network does not see.
constexpr size_t kNumTypes = 7;

struct Schedule {
    std::string name;
    AlgorithmInputs inputs;
    std::vector<StageRow> rows;
};

Schedule read_schedule(const std::string &path, int num_cores) {
    const BytesOrError file = read_file_bytes(path, size_t{64} << 20);
    std::string error = file.error;
    const auto records = read_featurization(file.bytes, error);
    if (!error.empty() || !records) {
        throw UserError(path + ": " + error);
    }
    Schedule schedule;
    schedule.name = path;
    schedule.inputs.num_cores = num_cores;
    schedule.inputs.num_stages = static_cast<int>(records->size());
    for (const FeatureRecord &r : *records) {
        StageRow row;
        row.position = static_cast<int>(schedule.rows.size());
        std::copy(r.schedule.begin(), r.schedule.end(), row.features);
        schedule.rows.push_back(row);
        schedule.inputs.features.insert(
            schedule.inputs.features.end(), r.algorithm.begin() + kNumTypes, r.algorithm.end());
    }
    return schedule;
}

/// The largest value so far, and where.
struct Largest {
    double value = 0;
    std::string where;

    void include(double v, const std::string &at) {
        // Comparisons with NaN are false; that must not go unnoticed.
        if (!(v <= value)) {
            value = v;
            where = at;
        }
    }
};

struct Differences {
    Largest of_total_terms;
    Largest of_stage_terms;
    Largest of_summands;
};

void compare(const Weights &weights, const Schedule &schedule, Differences &differences) {
    const PlainNetwork plain(weights, schedule.inputs);
    const auto compiled = make_aot_cost_model(weights);
    compiled->begin(schedule.inputs);
    const std::vector<float> costs = compiled->predict(schedule.rows);
    double total = 0;
    double magnitude = 0;
    for (size_t i = 0; i < costs.size(); i++) {
        const StageBreakdown expected = plain.evaluate(schedule.rows[i]);
        const double difference = static_cast<double>(costs[i]) - expected.cost_ms;
        const std::string where = schedule.name + " stage " + std::to_string(i);
        differences.of_stage_terms.include(std::abs(difference) / expected.magnitude_ms, where);
        differences.of_summands.include(std::abs(difference) / expected.summands_ms, where);
        total += difference;
        magnitude += expected.magnitude_ms;
    }
    differences.of_total_terms.include(std::abs(total) / magnitude, schedule.name);
}

/// Names and values of all weights at `path`, in the order of their names.
void add_weights(const std::string &path, std::vector<std::pair<std::string, Weights>> &all) {
    std::vector<std::string> files;
    if (fs::is_directory(path)) {
        for (const fs::directory_entry &entry : fs::directory_iterator(path)) {
            if (entry.path().extension() == ".weights") {
                files.push_back(entry.path().string());
            }
        }
        std::sort(files.begin(), files.end());
    } else {
        files.push_back(path);
    }
    for (const std::string &file : files) {
        WeightsOrError read = read_weights_file(file);
        if (!read.weights) {
            throw UserError(read.error);
        }
        all.emplace_back(fs::path(file).stem().string(), std::move(*read.weights));
    }
}

int run(const std::vector<std::string> &args) {
    std::vector<std::pair<std::string, Weights>> weights;
    std::vector<std::string> blobs;
    int cores = 80;
    for (size_t i = 0; i < args.size(); i++) {
        if (args[i] == "--cores" && i + 1 < args.size()) {
            cores = std::stoi(args[++i]);
        } else if (fs::path(args[i]).extension() == ".featurization") {
            blobs.push_back(args[i]);
        } else {
            add_weights(args[i], weights);
        }
    }
    if (weights.empty() || blobs.empty()) {
        std::fprintf(stderr,
                     "usage: check_network [--cores <n>] <weights> ... <blob.featurization> ...\n");
        return 2;
    }
    std::vector<Schedule> schedules;
    size_t num_rows = 0;
    for (const std::string &blob : blobs) {
        schedules.push_back(read_schedule(blob, cores));
        num_rows += schedules.back().rows.size();
    }
    std::printf(
        "%zu weights, %zu schedules, %zu stages\n", weights.size(), schedules.size(), num_rows);
    std::printf("%-28s %10s %10s %10s\n", "weights", "total", "stage", "summands");
    bool good = true;
    for (const auto &[name, values] : weights) {
        Differences d;
        for (const Schedule &s : schedules) {
            compare(values, s, d);
        }
        const bool close = d.of_summands.value <= kMostOfSummands;
        good = good && close;
        std::printf("%-28s %10.2e %10.2e %10.2e%s\n",
                    name.c_str(),
                    d.of_total_terms.value,
                    d.of_stage_terms.value,
                    d.of_summands.value,
                    close ? "" : "  TOO MUCH");
        if (!close) {
            std::printf("    total: %s\n    stage: %s\n    summands: %s\n",
                        d.of_total_terms.where.c_str(),
                        d.of_stage_terms.where.c_str(),
                        d.of_summands.where.c_str());
        }
    }
    return good ? 0 : 1;
}

}  // namespace
}  // namespace anderson2021

int main(int argc, char **argv) {
    try {
        return anderson2021::run({argv + 1, argv + argc});
    } catch (const std::exception &e) {
        std::fprintf(stderr, "check_network: %s\n", e.what());
        return 2;
    }
}
