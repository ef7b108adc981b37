// What a training run says about itself: lines for people, lines of JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "training/dataset.h"
#include "training/metrics.h"
#include "training/trainer.h"

namespace anderson2021 {

/// "Loss: ... Rate: ... Worst: ..." with the time of the epoch and the average so far.
std::string epoch_line(const EpochReport &report, double total_ms, int64_t num_schedules);
/// The same as one JSON object in one line.
std::string epoch_json(const EpochReport &report);

/// Quality of the predictions for one pipeline and set.
struct PipelineQuality {
    std::string pipeline;
    bool validation = false;
    RankingQuality quality;
};
/// In order of pipelines, from predictions stored with the entries. Sets without schedules are left
/// out.
std::vector<PipelineQuality> measure_quality(const Dataset &dataset);
/// A table: means over pipelines per set, and up to `max_rows` pipelines.
std::string quality_table(const std::vector<PipelineQuality> &qualities, size_t max_rows);
/// One JSON object per line and pipeline.
std::string quality_json(const std::vector<PipelineQuality> &qualities);

/// A JSON string with its quotes.
std::string json_string(const std::string &text);
/// A JSON number; null if it is not finite.
std::string json_number(double value);

}  // namespace anderson2021
