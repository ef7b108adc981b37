#include <cmath>
#include <gtest/gtest.h>

#include "training/teacher.h"
#include "training_fixtures.h"

namespace anderson2021 {
namespace {

using namespace test;

// A trainer with everything that it refers to.
struct Session {
    TemporaryFolder folder;
    ThreadPool pool;
    Dataset dataset;
    std::vector<Batch> training, validation;
    std::unique_ptr<Trainer> trainer;

    explicit Session(const TrainerOptions &options, int threads = 1, bool taught = true)
        : pool(threads), dataset(load_samples(folder, synthetic_samples(3, 70))),
          training(make_batches(dataset, false, 0, pool)),
          validation(make_batches(dataset, true, 0, pool)) {
        if (taught) {
            const std::vector<Weights> teachers = {Weights::random(7)};
            teach(training, teachers, true, pool);
            teach(validation, teachers, true, pool);
        }
        trainer = std::make_unique<Trainer>(
            training, validation, options, pool, Weights::random(8), true);
    }

    void run(int epochs) {
        for (int i = 0; i < epochs && !trainer->finished(); i++) {
            trainer->run_epoch();
        }
    }
};

TrainerOptions terms_options() {
    TrainerOptions options;
    options.epochs = 6;
    options.rates = {0.01, 0.003};
    options.loss.kind = LossKind::Terms;
    options.mean_loss = options.cosine = options.standardize = true;
    options.clip = 10;
    return options;
}

bool same(const Weights &a, const Weights &b) {
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        if (*a.buffers()[i] != *b.buffers()[i]) {
            return false;
        }
    }
    return true;
}

TEST(Trainer, LearnsWhatATeacherKnows) {
    TrainerOptions options = terms_options();
    options.epochs = 150;
    options.rates = {0.01};
    Session session(options);
    const double first = session.trainer->run_epoch().validation_loss;
    session.run(148);
    const double last = session.trainer->run_epoch().validation_loss;
    EXPECT_LT(last, first / 20);
}

TEST(Trainer, FollowsRunTimes) {
    TrainerOptions options;
    options.epochs = 60;
    options.rates = {0.01};
    Session session(options, 1, false);
    const double first = session.trainer->run_epoch().training_loss;
    session.run(58);
    EXPECT_LT(session.trainer->run_epoch().training_loss, first);
}

TEST(Trainer, DoesNotDependOnThreads) {
    Session one(terms_options(), 1), four(terms_options(), 4);
    one.run(3);
    four.run(3);
    EXPECT_TRUE(same(one.trainer->result(), four.trainer->result()));
}

TEST(Trainer, ResumesAsIfItHadNeverStopped) {
    Session whole(terms_options());
    whole.run(12);
    ASSERT_TRUE(whole.trainer->finished());

    Session first(terms_options());
    first.run(5);
    const std::vector<uint8_t> state = first.trainer->save_state(99);
    Session second(terms_options());
    ASSERT_EQ(second.trainer->load_state(state, 99), "");
    EXPECT_EQ(second.trainer->epochs_done(), 5);
    second.run(100);
    EXPECT_EQ(second.trainer->epochs_done(), 12);
    EXPECT_TRUE(same(second.trainer->result(), whole.trainer->result()));
}

TEST(Trainer, RefusesOtherStates) {
    Session session(terms_options());
    session.run(1);
    const std::vector<uint8_t> state = session.trainer->save_state(99);
    EXPECT_NE(session.trainer->load_state(state, 100).find("other samples"), std::string::npos);
    EXPECT_NE(session.trainer->load_state({}, 99), "");
    for (size_t at = 8; at < state.size(); at += 1001) {
        std::vector<uint8_t> damaged = state;
        damaged[at] ^= 1;
        EXPECT_NE(session.trainer->load_state(damaged, 99), "") << at;
    }
    std::vector<uint8_t> cut(state.begin(), state.end() - 1);
    EXPECT_NE(session.trainer->load_state(cut, 99), "");
    EXPECT_EQ(session.trainer->load_state(state, 99), "");
}

TEST(Trainer, StopsEarlyAndKeepsTheBest) {
    TrainerOptions options = terms_options();
    options.epochs = 1000;
    options.rates = {1.0};
    options.patience = 3;
    Session session(options);
    session.run(1000);
    EXPECT_TRUE(session.trainer->finished());
    EXPECT_LT(session.trainer->epochs_done(), 1000);
}

// Weights for standardized inputs must mean the same for the inputs as they are.
TEST(Standardizer, IsUndoneInTheResult) {
    TrainerOptions options = terms_options();
    Session session(options);
    session.run(4);
    session.trainer->predict();
    const Weights result = session.trainer->result();
    TrainerOptions plain;
    Session again(plain);
    Trainer check(again.training, again.validation, plain, again.pool, result, false);
    check.predict();
    for (size_t p = 0; p < session.dataset.pipelines.size(); p++) {
        const auto &a = session.dataset.pipelines[p]->training;
        const auto &b = again.dataset.pipelines[p]->training;
        for (size_t i = 0; i < a.size(); i++) {
            ASSERT_NEAR(static_cast<double>(a[i].prediction / b[i].prediction), 1, 1e-3);
        }
    }
}

TEST(Teacher, LabelsAreMeans) {
    Session session(terms_options(), 1, false);
    const std::vector<Weights> teachers = {Weights::random(1), Weights::random(2)};
    const Unit &unit = session.training[0].units[0];
    // What each of them says, before inputs are shifted.
    Session plain(TrainerOptions(), 1, false);
    const Unit &raw = plain.training[0].units[0];
    const float a = Network(teachers[0]).predict(raw).predictions[0];
    const float b = Network(teachers[1]).predict(raw).predictions[0];
    teach(plain.training, teachers, false, plain.pool);
    EXPECT_NEAR(static_cast<double>(raw.runtimes[0]), static_cast<double>(a + b) / 2, 1e-6);
    EXPECT_EQ(plain.training[0].entries()[plain.training[0].first].runtime(), raw.runtimes[0]);
    EXPECT_TRUE(raw.targets.empty());
    EXPECT_EQ(unit.count, raw.count);
}

}  // namespace
}  // namespace anderson2021
