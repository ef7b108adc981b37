#include "training/distiller.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/error.h"
#include "support/hash.h"
#include "training/state_bytes.h"
#include "training/teacher.h"

namespace anderson2021 {

namespace {

constexpr size_t kTerms = kConv1Channels, kL = kLanes;
constexpr uint32_t kStateMagic = 0x64313261;  // "a21d"
constexpr uint32_t kStateVersion = 1;
// Gradients that a step adds up apart from each other. Fixed, so that sums do not depend on the
// number of threads.
constexpr int64_t kSlots = 8;
constexpr double kLastShareOfRate = 1e-3;
// A coefficient that is next to nothing must not drown the others where its term is large.
constexpr float kLargestCostWeight = 10;
// Numbers of units that no step uses.
constexpr uint64_t kFirstForSizes = uint64_t{1} << 48, kFirstHeldOut = uint64_t{1} << 49;
constexpr uint64_t kUnitsForSizes = 3000, kHeldOutUnits = 256;

}  // namespace

// What a share of the units of a step works with.
struct Distiller::Slot {
    MixedUnit unit;
    Weights gradient;
    double loss = 0;
};

uint64_t DistillerOptions::fingerprint() const {
    uint64_t hash = 0;
    for (const double value : {rate, cost_weight}) {
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof(bits));
        hash_combine(hash, bits);
    }
    for (const int64_t value : {steps, units_per_step, warm_up, seed}) {
        hash_combine(hash, static_cast<uint64_t>(value));
    }
    return hash;
}

namespace {

Coordinates
make_coordinates(const StageMixer &mixer, const std::vector<Network> &teachers, ThreadPool &pool) {
    std::vector<MixedUnit> units(kUnitsForSizes);
    pool.parallel_for(static_cast<int64_t>(units.size()), [&](int64_t i) {
        MixedUnit &unit = units[static_cast<size_t>(i)];
        mixer.make(kFirstForSizes + static_cast<uint64_t>(i), unit);
        teach(unit.unit, teachers, true);
    });
    std::vector<const Unit *> pointers;
    for (const MixedUnit &unit : units) {
        pointers.push_back(&unit.unit);
    }
    return Coordinates(pointers);
}

std::vector<Network> make_networks(const std::vector<Weights> &weights) {
    ANDERSON_CHECK(!weights.empty());
    std::vector<Network> networks;
    for (const Weights &each : weights) {
        networks.emplace_back(each);
    }
    return networks;
}

}  // namespace

Distiller::Distiller(const StageMixer &mixer,
                     const std::vector<Weights> &teachers,
                     const Weights *initial,
                     const DistillerOptions &options,
                     ThreadPool &pool)
    : mixer_(mixer), teacher_weights_(teachers), teachers_(make_networks(teacher_weights_)),
      options_(options), pool_(pool), coordinates_(make_coordinates(mixer, teachers_, pool)),
      slots_(static_cast<size_t>(kSlots)) {
    const std::array<bool, kTerms> used = used_coefficients();
    for (size_t c = 0; c < kTerms; c++) {
        factors_[c] = used[c] ? 1.0f / coordinates_.sizes()[c] : 0.0f;
    }
    inner_ =
        initial != nullptr ? coordinates_.from_plain(*initial) : coordinates_.random(options.seed);
}

Distiller::~Distiller() = default;

void Distiller::make_unit(uint64_t number, MixedUnit &unit) const {
    mixer_.make(number, unit);
    teach(unit.unit, teachers_, true);
    std::array<float, kL> costs{};
    for (size_t i = 0; i < kTerms * kL; i++) {
        costs[i % kL] += unit.unit.multipliers[i] * unit.unit.targets[i];
    }
    const auto weight = static_cast<float>(options_.cost_weight);
    for (size_t i = 0; i < kTerms * kL; i++) {
        const float cost = costs[i % kL], factor = factors_[i / kL];
        float &multiplier = unit.unit.multipliers[i];
        const float share = cost > 0 ? weight * multiplier / cost : 0.0f;
        multiplier = factor + std::min(share, kLargestCostWeight * factor);
    }
}

double Distiller::rate() const {
    const auto step = static_cast<double>(steps_done_);
    const double progress = step / static_cast<double>(options_.steps);
    const double share = 0.5 * (1 + std::cos(progress * 3.14159265358979323846));
    const double warmth = options_.warm_up > 0
                              ? std::min(1.0, (step + 1) / static_cast<double>(options_.warm_up))
                              : 1.0;
    return options_.rate * warmth * (kLastShareOfRate + (1 - kLastShareOfRate) * share);
}

double Distiller::step() {
    const Weights plain = result();
    const Network network(plain);
    const LossSpec loss{LossKind::Coefficients, 0};
    const int64_t units = options_.units_per_step;
    const auto first = static_cast<uint64_t>(steps_done_) * static_cast<uint64_t>(units);
    pool_.parallel_for(kSlots, [&](int64_t s) {
        Slot &slot = slots_[static_cast<size_t>(s)];
        slot.loss = 0;
        for (std::vector<float> *buffer : slot.gradient.buffers()) {
            std::fill(buffer->begin(), buffer->end(), 0.0f);
        }
        for (int64_t u = units * s / kSlots; u < units * (s + 1) / kSlots; u++) {
            make_unit(first + static_cast<uint64_t>(u), slot.unit);
            slot.loss += network.evaluate(slot.unit.unit, loss, &slot.gradient).loss;
        }
    });
    Weights &sum = slots_.front().gradient;
    double total = slots_.front().loss;
    for (size_t s = 1; s < slots_.size(); s++) {
        const auto to = sum.buffers(), from = slots_[s].gradient.buffers();
        for (size_t b = 0; b < to.size(); b++) {
            for (size_t i = 0; i < to[b]->size(); i++) {
                (*to[b])[i] += (*from[b])[i];
            }
        }
        total += slots_[s].loss;
    }
    const Weights gradient = coordinates_.gradient(inner_, sum);
    optimizer_step(gradient, static_cast<float>(rate()), 0, optimizer_, inner_);
    Coordinates::keep_inside(inner_);
    steps_done_++;
    return total / (static_cast<double>(units) * kLanes);
}

double Distiller::run(int64_t steps) {
    double loss = 0;
    int64_t count = 0;
    while (count < steps && !finished()) {
        loss += step();
        count++;
    }
    return count > 0 ? loss / static_cast<double>(count) : 0;
}

double Distiller::held_out_error() const {
    const Weights plain = result();
    const Network network(plain);
    std::vector<double> squares(kHeldOutUnits);
    pool_.parallel_for(static_cast<int64_t>(kHeldOutUnits), [&](int64_t number) {
        MixedUnit unit;
        make_unit(kFirstHeldOut + static_cast<uint64_t>(number), unit);
        std::vector<float> coefficients;
        network.predict(unit.unit, nullptr, &coefficients);
        for (size_t i = 0; i < coefficients.size(); i++) {
            const auto error =
                static_cast<double>((coefficients[i] - unit.unit.targets[i]) * factors_[i / kL]);
            squares[static_cast<size_t>(number)] += error * error;
        }
    });
    double sum = 0, count = 0;
    for (const double square : squares) {
        sum += square;
    }
    for (const float factor : factors_) {
        count += factor > 0 ? 1 : 0;
    }
    return std::sqrt(sum / (count * static_cast<double>(kHeldOutUnits * kL)));
}

std::vector<uint8_t> Distiller::save_state(uint64_t hash) const {
    StateWriter state(kStateMagic, kStateVersion);
    state.add(hash).add(static_cast<uint64_t>(steps_done_));
    state.add(static_cast<uint64_t>(optimizer_.timestep));
    state.add(inner_).add(optimizer_.mean).add(optimizer_.variance);
    return state.finish();
}

std::string Distiller::load_state(const std::vector<uint8_t> &bytes, uint64_t hash) {
    StateReader state(bytes, kStateMagic, kStateVersion);
    const std::string fault = state.fault(save_state(hash).size());
    if (!fault.empty()) {
        return fault;
    }
    if (state.next() != hash) {
        return "it belongs to a run with other samples, teachers or options";
    }
    steps_done_ = static_cast<int64_t>(state.next());
    optimizer_.timestep = static_cast<int64_t>(state.next());
    for (Weights *weights : {&inner_, &optimizer_.mean, &optimizer_.variance}) {
        state.next(*weights);
    }
    return "";
}

}  // namespace anderson2021
