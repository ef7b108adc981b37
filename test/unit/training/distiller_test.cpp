#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "training/distiller.h"
#include "training/teacher.h"
#include "training_fixtures.h"

namespace anderson2021 {
namespace {

using namespace test;

class DistillerTest : public testing::Test {
protected:
    DistillerTest() {
        options.steps = 60;
        options.units_per_step = 12;
        options.warm_up = 10;
    }

    std::unique_ptr<Distiller> distiller(int threads = 1, const Weights *initial = nullptr) {
        pool = std::make_unique<ThreadPool>(threads);
        return std::make_unique<Distiller>(mixer, teachers, initial, options, *pool);
    }

    TemporaryFolder folder;
    Dataset dataset = load_samples(folder, synthetic_samples(3, 40));
    StageMixer mixer{dataset, {}};
    std::vector<Weights> teachers = {Weights::random(7)};
    DistillerOptions options;
    std::unique_ptr<ThreadPool> pool;
};

void expect_same(const Weights &a, const Weights &b) {
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        EXPECT_EQ(*a.buffers()[i], *b.buffers()[i]);
    }
}

void expect_close(const Weights &a, const Weights &b, float tolerance) {
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        for (size_t k = 0; k < a.buffers()[i]->size(); k++) {
            const float wanted = (*b.buffers()[i])[k];
            EXPECT_NEAR((*a.buffers()[i])[k], wanted, tolerance * (1 + std::abs(wanted)));
        }
    }
}

TEST_F(DistillerTest, LearnsWhatATeacherKnows) {
    options.steps = 600;
    options.units_per_step = 32;
    const auto student = distiller();
    const double first = student->held_out_error();
    student->run(options.steps);
    EXPECT_TRUE(student->finished());
    EXPECT_LT(student->held_out_error(), first / 4);
}

TEST_F(DistillerTest, HasNothingToLearnFromItself) {
    const auto student = distiller(1, teachers.data());
    EXPECT_LT(student->held_out_error(), 1e-4);
    expect_close(student->result(), teachers.front(), 1e-3f);
}

TEST_F(DistillerTest, LearnsTheMeanOfTeachers) {
    // Coefficients are linear in these biases as long as they are positive.
    Weights middle = Weights::random(7), low = middle, high = middle;
    for (size_t c = 0; c < kConv1Channels; c++) {
        middle.conv1_bias[c] += 1000;
        low.conv1_bias[c] += 900;
        high.conv1_bias[c] += 1100;
    }
    teachers = {low, high};
    EXPECT_LT(distiller(1, &middle)->held_out_error(), 1e-4);
    EXPECT_GT(distiller(1, &low)->held_out_error(), 1e-2);
}

TEST_F(DistillerTest, DoesNotDependOnThreads) {
    const auto one = distiller(1);
    one->run(options.steps);
    const Weights expected = one->result();
    const auto three = distiller(3);
    three->run(options.steps);
    expect_same(three->result(), expected);
}

TEST_F(DistillerTest, GoesOnFromAState) {
    const auto whole = distiller();
    whole->run(options.steps);
    const Weights expected = whole->result();
    const auto begun = distiller();
    begun->run(25);
    const std::vector<uint8_t> state = begun->save_state(99);
    const auto resumed = distiller();
    EXPECT_EQ(resumed->load_state(state, 99), "");
    EXPECT_EQ(resumed->steps_done(), 25);
    resumed->run(options.steps);
    expect_same(resumed->result(), expected);
}

TEST_F(DistillerTest, RefusesForeignStates) {
    const auto student = distiller();
    student->run(3);
    std::vector<uint8_t> state = student->save_state(99);
    EXPECT_NE(student->load_state(state, 98), "");
    state[100] ^= 1;
    EXPECT_NE(student->load_state(state, 99), "");
    state.pop_back();
    EXPECT_NE(student->load_state(state, 99), "");
    EXPECT_NE(student->load_state({}, 99), "");
    EXPECT_EQ(student->steps_done(), 3);
}

TEST_F(DistillerTest, WeightOfCostsChangesTheResult) {
    options.cost_weight = 5;
    const auto weighted = distiller();
    weighted->run(options.steps);
    options.cost_weight = 0;
    const auto plain = distiller();
    plain->run(options.steps);
    EXPECT_NE(weighted->result().conv1_bias, plain->result().conv1_bias);
}

class CoordinatesTest : public DistillerTest {
protected:
    CoordinatesTest() : units(40) {
        const std::vector<Network> networks(teachers.begin(), teachers.end());
        for (size_t i = 0; i < units.size(); i++) {
            mixer.make(i, units[i]);
            teach(units[i].unit, networks, true);
            pointers.push_back(&units[i].unit);
        }
    }

    // Of all units, in a region where no coefficient is off if biases are 20.
    double loss(const Coordinates &coordinates, const Weights &inner, Weights *gradient) {
        const Weights weights = coordinates.to_plain(inner);
        double sum = 0;
        for (MixedUnit &unit : units) {
            for (size_t i = 0; i < unit.unit.targets.size(); i++) {
                const float size = coordinates.sizes()[i / kLanes];
                unit.unit.multipliers[i] = 0.05f / size;
                unit.unit.targets[i] = 10 * size;
            }
            sum += Network(weights).evaluate(unit.unit, {LossKind::Coefficients, 0}, gradient).loss;
        }
        return sum;
    }

    std::vector<MixedUnit> units;
    std::vector<const Unit *> pointers;
};

TEST_F(CoordinatesTest, ThereAndBack) {
    const Coordinates coordinates(pointers);
    const Weights weights = Weights::random(3);
    expect_close(coordinates.to_plain(coordinates.from_plain(weights)), weights, 1e-3f);
}

TEST_F(CoordinatesTest, GradientIsThatOfTheLoss) {
    const Coordinates coordinates(pointers);
    Weights inner = coordinates.random(4);
    std::fill(inner.conv1_bias.begin(), inner.conv1_bias.end(), 20.0f);
    Weights plain_gradient;
    loss(coordinates, inner, &plain_gradient);
    const Weights gradient = coordinates.gradient(inner, plain_gradient);
    for (size_t buffer = 0; buffer < kNumWeightBuffers; buffer++) {
        // Along the gradient of one buffer; single coordinates may hardly matter.
        const std::vector<float> &direction = *gradient.buffers()[buffer];
        double squares = 0;
        for (const float slope : direction) {
            squares += static_cast<double>(slope) * static_cast<double>(slope);
        }
        const double length = 2e-3 / std::sqrt(squares);
        Weights up = inner, down = inner;
        for (size_t i = 0; i < direction.size(); i++) {
            const auto change = static_cast<float>(length) * direction[i];
            (*up.buffers()[buffer])[i] += change;
            (*down.buffers()[buffer])[i] -= change;
        }
        const double found =
            (loss(coordinates, up, nullptr) - loss(coordinates, down, nullptr)) / (2 * length);
        EXPECT_NEAR(found / squares, 1, 0.05) << kWeightBuffers[buffer].name;
    }
}

TEST_F(CoordinatesTest, SharesOfCountsStayInside) {
    Weights inner;
    inner.head1_filter[0] = -1;
    inner.head1_filter[1] = 2;
    inner.head1_filter[2] = 0.5f;
    Coordinates::keep_inside(inner);
    EXPECT_GT(inner.head1_filter[0], 0);
    EXPECT_LT(inner.head1_filter[1], 1);
    EXPECT_EQ(inner.head1_filter[2], 0.5f);
}

TEST_F(CoordinatesTest, RandomCoordinatesAreRightOnAverage) {
    const Coordinates coordinates(pointers);
    const Weights inner = coordinates.random(4);
    for (size_t c = 0; c < kConv1Channels; c++) {
        EXPECT_LE(inner.conv1_bias[c], 1.0f);
        EXPECT_GE(inner.conv1_bias[c], -1e-3f);
    }
    EXPECT_NE(coordinates.random(5).head2_filter, inner.head2_filter);
}

}  // namespace
}  // namespace anderson2021
