#include "training/dataset.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "costmodel/file_bytes.h"
#include "support/error.h"
#include "support/hash.h"
#include "training/classic_samples.h"
#include "training/packed_samples.h"

namespace anderson2021 {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxMessages = 20;
constexpr size_t kLargestSample = size_t{64} << 20;
constexpr uint64_t kValidationMask = 7;
constexpr size_t kBatchSize = 64, kSmallestBatch = 8;
constexpr int kDefaultCores = 32;

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Sample files of a directory, in order of their names.
void list_files(const std::string &path, std::vector<std::string> &files) {
    std::error_code code;
    if (!fs::is_directory(path, code)) {
        files.push_back(path);
        return;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(path, code), end; !code && it != end;
         it.increment(code)) {
        const std::string name = it->path().string();
        if (it->is_regular_file() && (ends_with(name, ".sample") || ends_with(name, ".samples"))) {
            found.push_back(name);
        }
    }
    if (code) {
        throw UserError(path + ": " + code.message());
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
}

class Loader {
public:
    Loader(const DatasetOptions &options, LoadReport &report)
        : options_(options), report_(report) {}

    void load(const std::vector<std::string> &files);
    Dataset finish();

private:
    // Id, hash, number of stages: ids alone may be used for several algorithms.
    using Key = std::tuple<int32_t, uint64_t, int>;

    void load_packed(const std::string &path);
    void load_classic(const std::vector<std::string> &paths);
    std::string cache_file(const std::vector<std::string> &paths) const;
    void check_folder(const std::string &path);
    bool is_excluded(const std::string &name) const;
    void add(const SampledPipeline &info, Sample sample, const std::string &name);
    std::vector<DatasetEntry> &entries_for(DatasetPipeline &pipeline, uint64_t hash) const;

    const DatasetOptions &options_;
    LoadReport &report_;
    std::map<Key, std::unique_ptr<DatasetPipeline>> pipelines_;
    std::set<std::string> checked_folders_;
    // Positions of the entries of a pipeline, by set and hash.
    std::map<const std::vector<DatasetEntry> *, std::map<uint64_t, size_t>> known_;
};

[[noreturn]] void refuse_reference(const std::string &path) {
    throw UserError(path + ": the samples were made with reference_features=1. Their features mean "
                           "something else; make them again without that option.");
}

void Loader::load_packed(const std::string &path) {
    PackedSamples packed;
    const std::string error = read_packed_samples(path, packed);
    if (!error.empty()) {
        throw UserError(error);
    }
    if (packed.reference_features) {
        refuse_reference(path);
    }
    for (Sample &sample : packed.samples) {
        const SampledPipeline &info = packed.pipelines[sample.pipeline];
        const std::string name =
            sample.name.empty() ? path + "#" + std::to_string(sample.schedule_id) : sample.name;
        add(info, std::move(sample), name);
    }
}

void Loader::check_folder(const std::string &path) {
    const std::string folder = fs::path(path).parent_path().string();
    if (!checked_folders_.insert(folder).second) {
        return;
    }
    bool reference_features = false;
    const std::string error = read_samples_info(folder.empty() ? "." : folder, reference_features);
    if (!error.empty()) {
        throw UserError(error);
    }
    if (reference_features) {
        refuse_reference((fs::path(folder) / kSamplesInfoName).string());
    }
}

// Files are the same if names, sizes and times of the last change are.
std::string Loader::cache_file(const std::vector<std::string> &paths) const {
    uint64_t key = 0;
    for (const std::string &path : paths) {
        std::error_code code;
        const std::string absolute = fs::absolute(path, code).string();
        hash_combine(key, crc32(absolute.data(), absolute.size()));
        hash_combine(key, static_cast<uint64_t>(fs::file_size(path, code)));
        hash_combine(
            key, static_cast<uint64_t>(fs::last_write_time(path, code).time_since_epoch().count()));
    }
    char name[32];
    std::snprintf(name, sizeof(name), "%016llx.samples", static_cast<unsigned long long>(key));
    return (fs::path(options_.cache) / name).string();
}

void Loader::load_classic(const std::vector<std::string> &paths) {
    for (const std::string &path : paths) {
        check_folder(path);
    }
    const bool cached = !options_.cache.empty() && !paths.empty();
    const std::string cache = cached ? cache_file(paths) : "";
    PackedSamples packed;
    if (cached && read_packed_samples(cache, packed).empty()) {
        report_.cached_files += static_cast<int64_t>(paths.size());
        for (Sample &sample : packed.samples) {
            const std::string name = sample.name;
            add(packed.pipelines[sample.pipeline], std::move(sample), name);
        }
        return;
    }
    std::vector<ClassicSample> read(paths.size());
    std::vector<std::string> errors(paths.size());
    ThreadPool pool(options_.threads);
    pool.parallel_for(static_cast<int64_t>(paths.size()), [&](int64_t n) {
        const auto i = static_cast<size_t>(n);
        std::error_code code;
        const auto size = fs::file_size(paths[i], code);
        const BytesOrError content =
            read_file_bytes(paths[i], code ? 0 : std::min<size_t>(size, kLargestSample));
        errors[i] =
            content.error.empty() ? parse_classic_sample(content.bytes, read[i]) : content.error;
    });
    bool complete = true;
    packed = PackedSamples();
    std::map<Key, uint32_t> known;
    for (size_t i = 0; i < paths.size(); i++) {
        if (!errors[i].empty()) {
            report_.skip_file(paths[i] + ": " + errors[i]);
            complete = false;
            continue;
        }
        const SampledPipeline &info = read[i].pipeline;
        if (cached) {
            const auto [at, is_new] = known.emplace(Key(info.id, info.hash, info.num_stages),
                                                    static_cast<uint32_t>(packed.pipelines.size()));
            if (is_new) {
                packed.pipelines.push_back(info);
            }
            packed.samples.push_back(read[i].sample);
            packed.samples.back().pipeline = at->second;
            packed.samples.back().name = paths[i];
        }
        add(info, std::move(read[i].sample), paths[i]);
    }
    // What was wrong with some has to be said again the next time.
    if (cached && complete) {
        std::error_code code;
        fs::create_directories(options_.cache, code);
        const std::string error = write_packed_samples(cache, packed);
        if (!error.empty() && report_.messages.size() < kMaxMessages) {
            report_.messages.push_back("Samples are not cached: " + error);
        }
    }
}

void Loader::load(const std::vector<std::string> &files) {
    std::vector<std::string> classic;
    for (const std::string &path : files) {
        report_.files++;
        if (ends_with(path, ".samples")) {
            load_packed(path);
        } else if (ends_with(path, ".sample")) {
            classic.push_back(path);
        } else {
            report_.skip_file(path + " does not end in .sample or .samples");
        }
    }
    load_classic(classic);
}

bool Loader::is_excluded(const std::string &name) const {
    for (const std::string &excluded : options_.exclude) {
        // Variants of a pipeline are called <name>_<variant> or <name>-<variant>.
        if (name == excluded || name.rfind(excluded + "_", 0) == 0 ||
            name.rfind(excluded + "-", 0) == 0) {
            return true;
        }
    }
    return false;
}

std::vector<DatasetEntry> &Loader::entries_for(DatasetPipeline &pipeline, uint64_t hash) const {
    const uint64_t decisive = options_.partition_schedules ? hash : pipeline.info.hash;
    return (decisive & kValidationMask) == 0 ? pipeline.validation : pipeline.training;
}

void Loader::add(const SampledPipeline &info, Sample sample, const std::string &name) {
    if (is_excluded(info.name)) {
        return;
    }
    report_.samples++;
    if (!options_.needs_runtimes) {
        sample.runtime = 1;
    }
    const std::string fault = sample_fault(sample);
    if (!fault.empty()) {
        report_.skip_sample(name + ": " + fault);
        return;
    }
    if (report_.best_name.empty() || sample.runtime < report_.best_runtime) {
        report_.best_name = name;
        report_.best_runtime = sample.runtime;
        report_.best_schedule_id = sample.schedule_id;
    }
    std::unique_ptr<DatasetPipeline> &pipeline =
        pipelines_[Key(info.id, info.hash, info.num_stages)];
    if (pipeline == nullptr) {
        pipeline = std::make_unique<DatasetPipeline>();
        pipeline->info = info;
        pipeline->algorithm = SparseAlgorithm::from_records(info.algorithm, info.num_stages);
    }
    std::vector<DatasetEntry> &entries = entries_for(*pipeline, sample.hash);
    const auto [known, is_new] = known_[&entries].emplace(sample.hash, entries.size());
    if (is_new) {
        report_.unique++;
        DatasetEntry entry;
        entry.hash = sample.hash;
        entry.schedule_id = sample.schedule_id;
        entry.runtimes = {sample.runtime};
        entry.name = name;
        entry.schedule = std::move(sample.schedule);
        entries.push_back(std::move(entry));
        return;
    }
    DatasetEntry &entry = entries[known->second];
    if (sample.runtime < entry.runtime()) {
        entry.name = name;
        entry.schedule_id = sample.schedule_id;
    }
    entry.runtimes.push_back(sample.runtime);
    std::sort(entry.runtimes.begin(), entry.runtimes.end());
}

Dataset Loader::finish() {
    Dataset dataset;
    for (auto &keyed : pipelines_) {
        DatasetPipeline &pipeline = *keyed.second;
        for (std::vector<DatasetEntry> *entries : {&pipeline.training, &pipeline.validation}) {
            std::sort(entries->begin(), entries->end(), [](const auto &a, const auto &b) {
                return a.hash < b.hash;
            });
            const auto limit = static_cast<size_t>(options_.limit);
            if (limit > 0 && entries->size() > limit) {
                entries->resize(limit);
            }
        }
        dataset.pipelines.push_back(std::move(keyed.second));
    }
    if (dataset.pipelines.empty()) {
        std::string reasons;
        for (const std::string &message : report_.messages) {
            reasons += "\n  " + message;
        }
        throw UserError("There is no usable sample among " + std::to_string(report_.files) +
                        " files." + reasons);
    }
    // With few pipelines all of them may have been held out.
    if (dataset.num_schedules(false) == 0) {
        for (const auto &pipeline : dataset.pipelines) {
            std::swap(pipeline->training, pipeline->validation);
        }
    }
    return dataset;
}

}  // namespace

void LoadReport::skip_file(const std::string &reason) {
    skipped_files++;
    if (messages.size() < kMaxMessages) {
        messages.push_back(reason);
    }
}

void LoadReport::skip_sample(const std::string &reason) {
    skipped_samples++;
    if (messages.size() < kMaxMessages) {
        messages.push_back(reason);
    }
}

Dataset Dataset::load(const std::vector<std::string> &paths,
                      const DatasetOptions &options,
                      LoadReport &report) {
    std::vector<std::string> files;
    for (const std::string &path : paths) {
        list_files(path, files);
    }
    Loader loader(options, report);
    loader.load(files);
    return loader.finish();
}

int64_t Dataset::num_schedules(bool validation) const {
    int64_t count = 0;
    for (const auto &pipeline : pipelines) {
        const auto &entries = validation ? pipeline->validation : pipeline->training;
        count += static_cast<int64_t>(entries.size());
    }
    return count;
}

double Dataset::noise_level(const DatasetPipeline &pipeline) {
    double squares = 0, repeats = 0;
    for (const std::vector<DatasetEntry> *entries : {&pipeline.training, &pipeline.validation}) {
        for (const DatasetEntry &entry : *entries) {
            double mean = 0;
            for (const float runtime : entry.runtimes) {
                mean += static_cast<double>(runtime) / static_cast<double>(entry.runtimes.size());
            }
            for (const float runtime : entry.runtimes) {
                squares +=
                    (static_cast<double>(runtime) - mean) * (static_cast<double>(runtime) - mean);
            }
            repeats += static_cast<double>(entry.runtimes.size() - 1);
        }
    }
    return repeats > 0 ? std::sqrt(squares / repeats) : 0;
}

uint64_t Dataset::fingerprint() const {
    uint64_t hash = 0;
    for (const auto &pipeline : pipelines) {
        hash_combine(hash, pipeline->info.hash);
        for (const std::vector<DatasetEntry> *entries :
             {&pipeline->training, &pipeline->validation}) {
            hash_combine(hash, entries->size());
            for (const DatasetEntry &entry : *entries) {
                const float runtime = entry.runtime();
                uint32_t bits;
                std::memcpy(&bits, &runtime, sizeof(bits));
                hash_combine(hash, entry.hash);
                hash_combine(hash, bits);
            }
        }
    }
    return hash;
}

int cores_of(const SampledPipeline &pipeline, int num_cores) {
    if (num_cores > 0) {
        return num_cores;
    }
    return pipeline.num_cores > 0 ? pipeline.num_cores : kDefaultCores;
}

std::vector<Batch>
make_batches(Dataset &dataset, bool validation, int num_cores, ThreadPool &pool) {
    std::vector<Batch> batches;
    for (const auto &pipeline : dataset.pipelines) {
        const auto &entries = validation ? pipeline->validation : pipeline->training;
        for (size_t first = 0; first < entries.size();) {
            size_t count = std::min(kBatchSize, entries.size() - first);
            const size_t rest = entries.size() - first - count;
            count += rest <= kSmallestBatch ? rest : 0;
            batches.push_back({pipeline.get(), validation, first, count, {}});
            first += count;
        }
    }
    pool.parallel_for(static_cast<int64_t>(batches.size()), [&](int64_t i) {
        Batch &batch = batches[static_cast<size_t>(i)];
        const std::vector<DatasetEntry> &entries = batch.entries();
        const int cores = cores_of(batch.pipeline->info, num_cores);
        float fastest = entries[batch.first].runtime();
        for (size_t n = 0; n < batch.count; n++) {
            fastest = std::min(fastest, entries[batch.first + n].runtime());
        }
        for (size_t n = 0; n < batch.count; n += kLanes) {
            std::vector<const float *> schedules;
            for (size_t k = n; k < std::min(batch.count, n + kLanes); k++) {
                schedules.push_back(entries[batch.first + k].schedule.data());
            }
            Unit unit = make_unit(batch.pipeline->algorithm, schedules, cores);
            unit.fastest = fastest;
            for (size_t lane = 0; lane < kLanes; lane++) {
                unit.runtimes[lane] =
                    entries[batch.first + n + (lane < schedules.size() ? lane : 0)].runtime();
            }
            batch.units.push_back(std::move(unit));
        }
    });
    return batches;
}

}  // namespace anderson2021
