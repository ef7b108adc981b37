#include "training/run_log.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace anderson2021 {

namespace {

template<typename... Args>
std::string format(const char *pattern, Args... args) {
    char buffer[512];
    std::snprintf(buffer, sizeof(buffer), pattern, args...);
    return buffer;
}

std::string rate_text(const OrderingRate &rate) {
    return rate.pairs > 0 ? format("%.4f", rate.value()) : "?";
}

}  // namespace

std::string json_string(const std::string &text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            result += format("\\u%04x", static_cast<unsigned>(c));
        } else {
            result += c;
        }
    }
    return result + "\"";
}

std::string json_number(double value) {
    return std::isfinite(value) ? format("%.9g", value) : "null";
}

std::string epoch_line(const EpochReport &report, double total_ms, int64_t num_schedules) {
    const double average = total_ms / report.epoch;
    return format("Loss: %.4f  Rate: ", report.training_loss) + rate_text(report.training) + " " +
           rate_text(report.validation) + format("  Worst: %.4f ", report.worst_ratio) +
           std::filesystem::path(report.worst_name).filename().string() +
           format(" (Epoch %d took %.4f ms. Total time: %.4f ms. Avg. time per epoch: %.4f ms. "
                  "Avg. time per epoch, per sample: %.4f ms)",
                  report.epoch,
                  report.milliseconds,
                  total_ms,
                  average,
                  average / static_cast<double>(num_schedules));
}

std::string epoch_json(const EpochReport &report) {
    return "{\"epoch\": " + std::to_string(report.epoch) +
           ", \"learning_rate\": " + json_number(report.rate) +
           ", \"loss\": " + json_number(report.training_loss) +
           ", \"validation_loss\": " + json_number(report.validation_loss) +
           ", \"rate\": " + json_number(report.training.value()) +
           ", \"validation_rate\": " + json_number(report.validation.value()) +
           ", \"worst_ratio\": " + json_number(report.worst_ratio) +
           ", \"worst\": " + json_string(report.worst_name) +
           ", \"best\": " + (report.is_best ? "true" : "false") +
           ", \"ms\": " + json_number(report.milliseconds) + "}";
}

std::vector<PipelineQuality> measure_quality(const Dataset &dataset) {
    std::vector<PipelineQuality> result;
    for (const auto &pipeline : dataset.pipelines) {
        for (const bool validation : {false, true}) {
            std::vector<float> predictions, runtimes;
            for (const DatasetEntry &entry :
                 validation ? pipeline->validation : pipeline->training) {
                predictions.push_back(entry.prediction);
                runtimes.push_back(entry.runtime());
            }
            if (!runtimes.empty()) {
                result.push_back(
                    {pipeline->info.name, validation, ranking_quality(predictions, runtimes)});
            }
        }
    }
    return result;
}

std::string quality_table(const std::vector<PipelineQuality> &qualities, size_t max_rows) {
    const char *row = "%-32.32s %-10s %9lld %9.4f %9.4f %9.4f %9.4f %9.4f\n";
    const auto line = [row](const std::string &name, const char *set, const RankingQuality &q) {
        return format(row,
                      name.c_str(),
                      set,
                      static_cast<long long>(q.schedules),
                      q.spearman,
                      q.ordered_pairs,
                      q.r_squared,
                      q.top1_regret,
                      q.top8_regret);
    };
    std::string text = format("%-32s %-10s %9s %9s %9s %9s %9s %9s\n",
                              "pipeline",
                              "set",
                              "schedules",
                              "spearman",
                              "ordered",
                              "R2(log)",
                              "regret@1",
                              "regret@8");
    size_t rows = 0;
    for (const PipelineQuality &quality : qualities) {
        if (rows++ < max_rows) {
            text += line(
                quality.pipeline, quality.validation ? "validation" : "training", quality.quality);
        }
    }
    for (const bool validation : {false, true}) {
        RankingQuality mean{0, 0, 0, 0, 0, 0};
        double count = 0;
        for (const PipelineQuality &quality : qualities) {
            if (quality.validation == validation) {
                const RankingQuality &q = quality.quality;
                count++;
                mean.schedules += q.schedules;
                mean.spearman += q.spearman;
                mean.ordered_pairs += q.ordered_pairs;
                mean.r_squared += q.r_squared;
                mean.top1_regret += q.top1_regret;
                mean.top8_regret += q.top8_regret;
            }
        }
        if (count > 0) {
            for (double *value : {&mean.spearman,
                                  &mean.ordered_pairs,
                                  &mean.r_squared,
                                  &mean.top1_regret,
                                  &mean.top8_regret}) {
                *value /= count;
            }
            text += line(format("mean of %.0f pipelines", count),
                         validation ? "validation" : "training",
                         mean);
        }
    }
    return text;
}

std::string quality_json(const std::vector<PipelineQuality> &qualities) {
    std::string text;
    for (const PipelineQuality &quality : qualities) {
        const RankingQuality &q = quality.quality;
        text += "{\"pipeline\": " + json_string(quality.pipeline) + ", \"set\": \"" +
                (quality.validation ? "validation" : "training") +
                "\", \"schedules\": " + std::to_string(q.schedules) +
                ", \"spearman\": " + json_number(q.spearman) +
                ", \"ordered_pairs\": " + json_number(q.ordered_pairs) +
                ", \"r_squared\": " + json_number(q.r_squared) +
                ", \"top1_regret\": " + json_number(q.top1_regret) +
                ", \"top8_regret\": " + json_number(q.top8_regret) + "}\n";
    }
    return text;
}

}  // namespace anderson2021
