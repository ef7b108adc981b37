// Samples: what a schedule looks like to the cost model, and how long it takes.
//
// A pipeline is stored once, its schedules refer to it. Features are stored as in .featurization
// files: stages in record order (Funcs from outputs to inputs, last update first).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "features/feature_io.h"

namespace anderson2021 {

/// Where the run time of a sample comes from.
enum class LabelSource : uint32_t {
    /// Not known (the classic sample files have no room for it).
    Unknown = 0,
    /// Timed on a device.
    Measured = 1,
    /// Predicted by a cost model with given weights.
    Predicted = 2,
};
const char *label_source_name(LabelSource source);

/// The algorithm that schedules belong to.
struct SampledPipeline {
    std::string name;
    int32_t id = 0;
    int num_stages = 0;
    /// Multiprocessors of the device that was scheduled for; 0 if unknown.
    int num_cores = 0;
    /// num_stages x 287 counts.
    std::vector<float> algorithm;
    /// One JSON object that says how the samples were made; may be empty.
    std::string origin;
    /// See pipeline_hash().
    uint64_t hash = 0;
};

/// One schedule.
struct Sample {
    /// Index of its pipeline among the pipelines of the file or collection.
    uint32_t pipeline = 0;
    int32_t schedule_id = 0;
    int64_t seed = 0;
    /// File that the sample was read from; empty if it never had one of its own.
    std::string name;
    /// Hash of the schedule tree; 0 if unknown.
    uint64_t tree_hash = 0;
    /// See schedule_hash().
    uint64_t hash = 0;
    LabelSource source = LabelSource::Unknown;
    /// Milliseconds.
    float runtime = 0;
    /// What the search thought it takes, ms; 0 if unknown.
    float prediction = 0;
    /// num_stages x 73.
    std::vector<float> schedule;
};

/// Hash of the features of a schedule, stage by stage, from their bits.
uint64_t schedule_hash(const float *features, int num_stages);
/// Hash of what the network sees of an algorithm: without the types in use, the kind of feature
/// counted fastest, then the scalar type, then the stage.
uint64_t pipeline_hash(const float *algorithm, int num_stages);

}  // namespace anderson2021
