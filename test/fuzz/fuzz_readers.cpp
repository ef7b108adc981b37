// Feeds damaged inputs to all readers: the driver for compilers without libFuzzer.
//
// A case is one input for one reader: a good one (or one made before) with a few random changes.
// Runs in child processes; a crash, a sanitizer's report or a hang is a finding.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "isolated.h"
#include "reader_targets.h"
#include "support/rng.h"
#include "tools/flags.h"

namespace anderson2021 {
namespace test {
namespace {

// Words that mean something to one of the readers.
const char *const kWords[] = {"realize:",
                              "inlined:",
                              "with",
                              "stages",
                              "gpu_block",
                              "gpu_thread",
                              "gpu_none",
                              "gpu_simd",
                              "(0, 0)",
                              "(-1, 0)",
                              "16c",
                              "1v",
                              "*",
                              "t",
                              "[",
                              "]",
                              ",",
                              "=",
                              "\n",
                              " ",
                              "--",
                              "-1",
                              "0",
                              "4294967296",
                              "9223372036854775807",
                              "-9223372036854775808",
                              "1e308",
                              "nan",
                              "inf",
                              "out",
                              "prod",
                              "gpu=",
                              "beam_size=",
                              "--out",
                              "--rate=",
                              "\t",
                              "$"};

class Mutator {
public:
    explicit Mutator(uint64_t seed) : rng_(static_cast<int64_t>(seed)) {}

    // Input for LLVMFuzzerTestOneInput.
    Bytes make() {
        const auto &targets = reader_targets();
        const size_t which = below(targets.size());
        const std::vector<Bytes> seeds = targets[which].seeds();
        Bytes bytes = seeds[below(seeds.size())];
        for (size_t n = below(5); n > 0; n--) {
            change(bytes, seeds);
        }
        // Every other input gets its checksums repaired.
        const size_t first = which + targets.size() * (below(2) == 0 ? 0 : 128 / targets.size());
        bytes.insert(bytes.begin(), static_cast<uint8_t>(first));
        return bytes;
    }

private:
    size_t below(size_t n) { return rng_.below(static_cast<uint32_t>(n)); }
    size_t place(const Bytes &bytes) { return below(bytes.size() + 1); }

    void insert(Bytes &bytes, const Bytes &what) {
        bytes.insert(
            bytes.begin() + static_cast<std::ptrdiff_t>(place(bytes)), what.begin(), what.end());
    }

    Bytes piece_of(const Bytes &bytes) {
        const size_t from = place(bytes);
        const size_t size = std::min(bytes.size() - from, below(below(2) == 0 ? 16 : 2000));
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from);
        return {begin, begin + static_cast<std::ptrdiff_t>(size)};
    }

    void change(Bytes &bytes, const std::vector<Bytes> &seeds) {
        static constexpr uint32_t kNumbers[] = {
            0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000};
        switch (below(8)) {
        case 0:
            if (!bytes.empty()) {
                bytes[below(bytes.size())] ^= static_cast<uint8_t>(1u << below(8));
            }
            break;
        case 1:
            if (!bytes.empty()) {
                bytes[below(bytes.size())] = static_cast<uint8_t>(below(256));
            }
            break;
        case 2:
            bytes.resize(place(bytes));
            break;
        case 3:
            insert(bytes, piece_of(bytes));
            break;
        case 4:
            insert(bytes, piece_of(seeds[below(seeds.size())]));
            break;
        case 5: {
            const std::string word = kWords[below(std::size(kWords))];
            insert(bytes, {word.begin(), word.end()});
            break;
        }
        case 6: {
            const size_t from = place(bytes);
            const size_t size = std::min(bytes.size() - from, below(40));
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from);
            bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
            break;
        }
        default:
            if (bytes.size() >= 4) {
                // At the start, where numbers of things are, more often than elsewhere.
                const size_t at = below(2) == 0 ? below(bytes.size() - 3)
                                                : below(std::min<size_t>(64, bytes.size() - 3));
                const uint32_t value = kNumbers[below(std::size(kNumbers))];
                for (size_t i = 0; i < 4; i++) {
                    bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
                }
            }
        }
    }

    Rng rng_;
};

CaseOutcome run_case(uint64_t seed, std::string *) {
    const Bytes input = Mutator(seed).make();
    LLVMFuzzerTestOneInput(input.data(), input.size());
    return CaseOutcome::Passed;
}

// The inputs that mutations start from, as files for libFuzzer.
void write_corpus(const std::string &folder) {
    for (size_t t = 0; t < reader_targets().size(); t++) {
        const std::vector<Bytes> seeds = reader_targets()[t].seeds();
        for (size_t i = 0; i < seeds.size(); i++) {
            std::ofstream file(folder + "/" + reader_targets()[t].name + std::to_string(i),
                               std::ios::binary);
            file.put(static_cast<char>(t));
            file.write(reinterpret_cast<const char *>(seeds[i].data()),
                       static_cast<std::streamsize>(seeds[i].size()));
        }
    }
}

using Kind = FlagSpec::Kind;

int run_program(int argc, char **argv) {
    Flags flags(
        {{"seconds", Kind::Number, false, "0", "time to spend; 0: see count"},
         {"count", Kind::Integer, false, "0", "cases; 0: see seconds"},
         {"first", Kind::Integer, false, "1", "first seed"},
         {"corpus", Kind::Text, false, "", "only write inputs for libFuzzer to this folder"},
         {"seed", Kind::Integer, false, "-1", "run this case alone, in this process"}});
    flags.parse(argc, argv);
    if (flags.has("corpus")) {
        write_corpus(flags.text("corpus"));
        return 0;
    }
    if (flags.integer("seed") >= 0) {
        run_case(static_cast<uint64_t>(flags.integer("seed")), nullptr);
        return 0;
    }
    if (flags.number("seconds") <= 0 && flags.integer("count") <= 0) {
        std::printf("%s", flags.usage().c_str());
        return 2;
    }
    IsolatedRun run;
    run.run_case = run_case;
    run.reproducer = [&](uint64_t seed) {
        return std::string(argv[0]) + " --seed=" + std::to_string(seed);
    };
    run.first_seed = static_cast<uint64_t>(flags.integer("first"));
    run.count = static_cast<uint64_t>(flags.integer("count"));
    run.seconds = flags.number("seconds");
    run.cases_per_child = 20000;
    const IsolatedCounts counts = run_isolated(run);
    std::printf("fuzz_readers: seeds %llu to %llu, %llu cases, %llu failures\n",
                static_cast<unsigned long long>(run.first_seed),
                static_cast<unsigned long long>(counts.next_seed - 1),
                static_cast<unsigned long long>(counts.cases),
                static_cast<unsigned long long>(counts.failures));
    return counts.failures == 0 && counts.cases > 0 ? 0 : 1;
}

}  // namespace
}  // namespace test
}  // namespace anderson2021

int main(int argc, char **argv) {
    try {
        return anderson2021::test::run_program(argc, argv);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "fuzz_readers: %s\n", e.what());
        return 2;
    }
}
