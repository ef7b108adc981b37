#include "plugin/schedule_cache.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include "algorithm/graph_fingerprint.h"
#include "anderson2021/version.h"
#include "costmodel/file_bytes.h"
#include "schedule/schedule_parser.h"
#include "schedule/schedule_text.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

namespace fs = std::filesystem;

// Raise this whenever the search or the text of the files changes within a version of the plugin.
constexpr uint64_t kCacheVersion = 3;
constexpr const char *kSuffix = ".schedule";
// Of a line about a reduction that is split: its parts, its update, its Func.
constexpr const char *kSplit = "# split ";
constexpr size_t kMaxFileBytes = size_t{16} << 20;

// Options that do not change which schedule is found.
bool has_no_say(const std::string &name) {
    static const char *const names[] = {"threads",
                                        "cache_dir",
                                        "cache_limit_mb",
                                        "weights_path",
                                        "weights",
                                        "verify_feature_cache",
                                        "progress",
                                        "by_hand_ask",
                                        "top_k"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

void add(Fingerprint &fingerprint, const std::string &value) {
    fingerprint.add(value);
}
void add(Fingerprint &fingerprint, int64_t value) {
    fingerprint.add(static_cast<uint64_t>(value));
}
void add(Fingerprint &fingerprint, double value) {
    fingerprint.add(std::to_string(value));
}

void add_options(const Options &options, Fingerprint &fingerprint) {
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    if (!has_no_say(#name)) {                                                                      \
        fingerprint.add(std::string(#name));                                                       \
        add(fingerprint, options.name);                                                            \
    }
#include "support/options.def"
#undef ANDERSON_OPTION
    if (!options.partial_schedule_path.empty()) {
        const BytesOrError file = read_file_bytes(options.partial_schedule_path, kMaxFileBytes);
        fingerprint.add(std::string(file.bytes.begin(), file.bytes.end()));
    }
}

void add_device(const GpuDevice &device, Fingerprint &fingerprint) {
    fingerprint.add(device.name);
    for (const int64_t value : {int64_t{device.num_sms},
                                int64_t{device.warp_size},
                                int64_t{device.max_threads_per_block},
                                int64_t{device.max_thread_dims},
                                int64_t{device.max_blocks_per_sm},
                                int64_t{device.max_warps_per_sm},
                                device.shared_bytes_per_block,
                                device.shared_bytes_per_sm,
                                device.registers_per_thread,
                                device.register_allocation_bytes,
                                device.unroll_limit,
                                device.stack_bytes_per_thread,
                                device.local_bytes_per_thread}) {
        fingerprint.add(static_cast<uint64_t>(value));
    }
}

// The first line of a file. For whoever reads schedules it is a comment, like those about splits.
std::string heading_of(const std::string &text) {
    Fingerprint fingerprint;
    fingerprint.add(kCacheVersion);
    fingerprint.add(text);
    return "# Anderson2021 " ANDERSON2021_VERSION ", checksum " + fingerprint.text() + "\n";
}

std::string text_of(const LoopNest &schedule,
                    const PipelineGraph &graph,
                    const std::vector<ReductionParts> &parts) {
    std::string text;
    for (const ReductionParts &p : parts) {
        text +=
            kSplit + std::to_string(p.parts) + " " + std::to_string(p.update) + " " + p.func + "\n";
    }
    return text + print_schedule(schedule, graph);
}

// Throws UserError.
CachedSchedule parse_text(const std::string &text, const std::string &path) {
    CachedSchedule cached;
    std::istringstream lines(text);
    const std::string split = kSplit;
    for (std::string line; std::getline(lines, line) && line.rfind(split, 0) == 0;) {
        std::istringstream words(line.substr(split.size()));
        ReductionParts p;
        if (!(words >> p.parts >> p.update >> p.func)) {
            throw UserError(path + " has a line that cannot be read: " + line);
        }
        cached.parts.push_back(p);
    }
    cached.schedule = parse_schedule(text, path);
    return cached;
}

}  // namespace

ScheduleCache::ScheduleCache(const CacheKey &key)
    : folder_(key.options.cache_dir), limit_bytes_(key.options.cache_limit_mb << 20) {
    const Options &options = key.options;
    const bool cacheable = options.top_k_path.empty() && options.record_path.empty() &&
                           options.by_hand.empty() && options.time_limit_s == 0;
    if (folder_.empty() || !cacheable) {
        return;
    }
    Fingerprint fingerprint;
    fingerprint.add(std::string(ANDERSON2021_VERSION));
    fingerprint.add(kCacheVersion);
    fingerprint.add(key.target);
    add_graph(key.graph, fingerprint);
    fingerprint.add(key.splits);
    add_options(options, fingerprint);
    add_device(key.device, fingerprint);
    fingerprint.add(key.weights.checksum());
    path_ = (fs::path(folder_) / (fingerprint.text() + kSuffix)).string();
}

bool ScheduleCache::find(const std::function<void(const CachedSchedule &)> &use) const {
    const BytesOrError file = read_file_bytes(path_, kMaxFileBytes);
    if (!file.error.empty()) {
        return false;
    }
    const auto refuse = [](const char *reason) {
        ANDERSON_LOG(1) << "Warning: searching anew, since a cached schedule cannot be used: "
                        << reason;
        return false;
    };
    // Not an error: whoever asks for the schedule gets it by a search.
    try {
        const std::string whole(file.bytes.begin(), file.bytes.end());
        const std::string text = whole.substr(std::min(whole.find('\n'), whole.size() - 1) + 1);
        if (whole != heading_of(text) + text) {
            throw UserError(path_ + " is damaged or of another version");
        }
        use(parse_text(text, path_));
    } catch (const UserError &e) {
        return refuse(e.what());
    } catch (const InternalError &e) {
        return refuse(e.what());
    }
    std::error_code ignored;  // only the order of removal depends on it
    fs::last_write_time(path_, fs::file_time_type::clock::now(), ignored);
    return true;
}

void ScheduleCache::store(const LoopNest &schedule,
                          const PipelineGraph &graph,
                          const std::vector<ReductionParts> &parts) const {
    std::error_code failed;
    fs::create_directories(folder_, failed);
    const std::string contents = text_of(schedule, graph, parts);
    const std::string text = heading_of(contents) + contents;
    const std::string error =
        failed ? failed.message() : replace_file(path_, text.data(), text.size());
    if (!error.empty()) {
        write_log("Warning: option autoscheduler.cache_dir: the schedule is not kept, since " +
                  path_ + " cannot be written: " + error + "\n");
        return;
    }
    remove_surplus();
}

// Others may remove files at the same time: what is gone is gone.
void ScheduleCache::remove_surplus() const {
    struct File {
        fs::file_time_type used;
        fs::path path;
        int64_t bytes;
    };
    std::vector<File> files;
    int64_t total = 0;
    std::error_code error;
    for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() != kSuffix) {
            continue;
        }
        std::error_code gone;
        const auto bytes = static_cast<int64_t>(fs::file_size(at->path(), gone));
        const fs::file_time_type used = fs::last_write_time(at->path(), gone);
        if (!gone) {
            files.push_back({used, at->path(), bytes});
            total += bytes;
        }
    }
    std::sort(files.begin(), files.end(), [](const File &a, const File &b) {
        return a.used != b.used ? a.used < b.used : a.path < b.path;
    });
    for (const File &file : files) {
        if (total <= limit_bytes_ || file.path == fs::path(path_)) {
            break;
        }
        fs::remove(file.path, error);
        total -= file.bytes;
    }
}

}  // namespace anderson2021
