#include "search/search.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include "featurizer/featurizer.h"
#include "schedule/schedule_parser.h"
#include "schedule/schedule_text.h"
#include "search/alternatives.h"
#include "search/beam_pass.h"
#include "search/by_hand.h"
#include "search/depth_hash.h"
#include "search/evaluation_options.h"
#include "search/partial_matcher.h"
#include "search/progress_meter.h"
#include "search/refinement.h"
#include "search/root_profile.h"
#include "search/search_context.h"
#include "search/search_report.h"
#include "search/stopwatch.h"
#include "space/inline_move.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

constexpr int kDefaultPasses = 5;
// From this pass on, one that finds nothing better is the last one. The smaller space, which is
// searched second, is mostly no better than the larger one.
constexpr int kPatience = 3;
constexpr int kPatienceInSmallSpace = 2;
constexpr int kManyFuncs = 40;
// The first two passes find most of what there is to be found.
constexpr int kFirstNarrowPass = 2;
// How long steps take, compared with a pass with the whole beam; for the estimate of what is left.
constexpr double kNarrowWeight = 0.7;
// Of passes after those that patience allows anyway.
constexpr double kUnlikelyWeight = 0.15;
constexpr int kFewFuncs = 14;
constexpr double kRefinementWeight = 6;
constexpr double kRefinementWeightOfFewFuncs = 1;

void check_range(const char *name, int64_t value, int64_t min) {
    if (value < min) {
        throw UserError(std::string("autoscheduler.") + name + " is " + std::to_string(value) +
                        ", but has to be at least " + std::to_string(min));
    }
}

void check_options(const Options &options) {
    check_range("parallelism", options.parallelism, 1);
    check_range("beam_size", options.beam_size, 1);
    check_range("num_passes", options.num_passes, 0);
    check_range("random_dropout", options.random_dropout, 0);
    check_range("threads", options.threads, 0);
    for (const char c : options.search_space_options.substr(0, 4)) {
        if (c != '0' && c != '1') {
            throw UserError("autoscheduler.search_space_options is '" +
                            options.search_space_options +
                            "', but has to consist of the characters 0 and 1");
        }
    }
}

int num_passes(const Options &options) {
    if (options.num_passes > 0) {
        return static_cast<int>(options.num_passes);
    }
    return options.beam_size == 1 ? 1 : kDefaultPasses;
}

// All passes of a search and what they share.
class CoarseToFine {
public:
    CoarseToFine(const PipelineGraph &graph,
                 RegionStore &store,
                 const GpuDevice &device,
                 const Options &options,
                 CostModel &cost_model,
                 const SearchHooks &hooks)
        : hooks_(hooks), budget_(options, [this] { return is_unwanted(); }), graph_(graph),
          store_(store), options_(options), pool_(static_cast<int>(options.threads)),
          rng_(options.random_dropout_seed), editor_(store),
          featurizer_(graph, store, device, featurizer_options(options)),
          evaluator_(featurizer_,
                     cost_model,
                     prune_context(graph, device, options),
                     pool_,
                     budget_.block_bytes()),
          interner_(editor_, pool_),
          partial_(options.partial_schedule_path.empty()
                       ? nullptr
                       : std::make_unique<PartialMatcher>(
                             read_schedule_file(options.partial_schedule_path), graph)),
          context_{graph,
                   device,
                   options,
                   store,
                   editor_,
                   evaluator_,
                   pool_,
                   interner_,
                   profiles_,
                   partial_.get(),
                   rng_,
                   stats_,
                   &budget_,
                   &meter_} {}

    SearchResult run();

private:
    void run_passes();
    bool run_family(PassSettings settings);
    bool run_passes_of(PassSettings &settings);
    bool is_random() const;
    bool tries_eager_inlining() const;
    bool has_eagerly_inlined_funcs() const;
    void freeze(PassSettings &settings);
    bool keep_better(const PassOutcome &outcome);
    void rank(const SearchStatePtr &state);
    void trim();
    void fall_back();
    PassOutcome run_pass(const PassSettings &settings, const PermittedHashes &permitted);
    SearchResult make_result();
    void note_progress(const std::string &step);
    [[noreturn]] void report_stuck(const PassOutcome &outcome) const;

    void plan_passes(const PassSettings &settings, bool thorough);
    void search_by_hand();
    bool is_unwanted();

    const SearchHooks &hooks_;
    SearchBudget budget_;
    ProgressMeter meter_;
    const PipelineGraph &graph_;
    RegionStore &store_;
    const Options &options_;
    ThreadPool pool_;
    Rng rng_;
    LoopNestEditor editor_;
    Featurizer featurizer_;
    StateEvaluator evaluator_;
    NestInterner interner_;
    RootProfiles profiles_;
    std::unique_ptr<PartialMatcher> partial_;
    SearchStats stats_;
    SearchContext context_;
    Stopwatch stopwatch_;
    PassSettings base_settings_;
    std::vector<SearchProgress> progress_;
    SearchStatePtr best_;
    // The cheapest schedules, by cost and hash.
    std::vector<SearchStatePtr> ranked_;
    int num_passes_run_ = 0;
};

SearchResult CoarseToFine::run() {
    ANDERSON_LOG(1) << print_search_space(options_);
    if (hooks_.chooser != nullptr) {
        search_by_hand();
    } else {
        run_passes();
    }
    if (best_ == nullptr) {
        fall_back();
    }
    ANDERSON_LOG(1) << "Best cost: " << best_->cost();
    SearchResult result = make_result();
    result.stats.total_s = stopwatch_.ms() / 1000;
    meter_.finish();
    is_unwanted();
    return result;
}

// Tells whoever wants to know how far the search is. True if they want it to end.
bool CoarseToFine::is_unwanted() {
    if (!hooks_.progress) {
        return false;
    }
    SearchStatus status;
    status.elapsed_s = stopwatch_.ms() / 1000;
    status.states = stats_.states_added;
    if (best_ != nullptr) {
        status.best_cost = best_->cost();
    }
    meter_.describe(status);
    if (options_.time_limit_s > 0 && status.eta_s >= 0) {
        const double left = std::max(options_.time_limit_s - status.elapsed_s, 0.0);
        status.eta_s = std::min(status.eta_s, left);
    }
    return !hooks_.progress(status);
}

void CoarseToFine::search_by_hand() {
    PassSettings settings;
    settings.moves = SpaceOptions::from(options_);
    base_settings_ = settings;
    meter_.begin(1);
    const PassOutcome outcome = ByHand(context_, settings, *hooks_.chooser).run();
    if (outcome.best == nullptr) {
        report_stuck(outcome);
    }
    keep_better(outcome);
    note_progress("decisions by hand");
    trim();
}

void CoarseToFine::run_passes() {
    PassSettings settings;
    settings.moves = SpaceOptions::from(options_);
    settings.num_passes = num_passes(options_);
    base_settings_ = settings;
    if (options_.freeze_inline_compute_root != 0) {
        // The pre-pass counts as one of them unless it would be the only one.
        settings.num_passes = std::max(settings.num_passes - 1, 1);
        freeze(settings);
    }
    // A sample, a greedy search, or the one pass that was asked for is taken as it comes.
    const bool thorough = settings.num_passes > 1 && options_.beam_size > 1 && !is_random();
    plan_passes(settings, thorough);
    if (run_family(settings) || !thorough || budget_.can_stop()) {
        return;
    }
    if (tries_eager_inlining()) {
        settings.eager_inlining = true;
        run_family(settings);
        settings.eager_inlining = false;
    }
    if (best_ != nullptr && !budget_.can_stop()) {
        settings.index = 0;
        meter_.begin_refinement(kRefinementWeight);
        Refinement refinement(context_, settings, best_, [this](const PassOutcome &outcome) {
            if (keep_better(outcome)) {
                note_progress("refinement");
            }
            return best_;
        });
        refinement.run([this] { trim(); });
        ANDERSON_LOG(1) << "Refined result: State with cost " << best_->cost() << ":\n"
                        << print_schedule(*best_->tree, graph_);
    }
}

void CoarseToFine::plan_passes(const PassSettings &settings, bool thorough) {
    for (int i = 0; i < settings.num_passes; i++) {
        const double weight = i < kFirstNarrowPass ? 1 : kNarrowWeight;
        meter_.plan(thorough && i >= kPatience ? kUnlikelyWeight : weight);
    }
    if (thorough && tries_eager_inlining()) {
        for (int i = 0; i < settings.num_passes; i++) {
            meter_.plan(i < kPatienceInSmallSpace ? kNarrowWeight : kUnlikelyWeight);
        }
    }
    if (thorough) {
        const bool few = graph_.num_non_input_funcs() <= kFewFuncs;
        meter_.plan(few ? kRefinementWeightOfFewFuncs : kRefinementWeight);
    }
}

// Passes from coarse to fine. True if nothing was left out, so that no further pass can find
// anything better.
bool CoarseToFine::run_family(PassSettings settings) {
    const int num_planned = settings.num_passes;
    const bool exhausted = run_passes_of(settings);
    // Those that turned out to be superfluous.
    meter_.skip(num_planned - settings.index - 1);
    return exhausted;
}

bool CoarseToFine::run_passes_of(PassSettings &settings) {
    PermittedHashes permitted;
    int patience = settings.eager_inlining ? kPatienceInSmallSpace : kPatience;
    if (graph_.num_non_input_funcs() > kManyFuncs) {
        // Refinement finds more in the same time.
        patience--;
    }
    for (settings.index = 0; settings.index < settings.num_passes; settings.index++) {
        settings.narrow_beam =
            !is_random() && (settings.index >= kFirstNarrowPass || settings.eager_inlining);
        meter_.begin(1);
        PassOutcome outcome = run_pass(settings, permitted);
        const bool better = keep_better(outcome);
        if (best_ != nullptr) {
            note_progress("pass " + std::to_string(num_passes_run_));
        }
        if (budget_.can_stop()) {
            return false;
        }
        permitted = std::move(outcome.permitted);
        // Passes differ in what they leave out, so where nothing was left out they all agree.
        if (outcome.exhaustive) {
            return true;
        }
        if (!better && settings.index + 1 >= patience && !is_random()) {
            return false;
        }
        // Without chance they differ in how they tell look-alikes, which a beam of one never does.
        if (options_.beam_size == 1 && !is_random()) {
            return false;
        }
    }
    return false;
}

bool CoarseToFine::is_random() const {
    return options_.random_dropout < 100 || options_.randomize_tilings != 0;
}

// True if it is.
bool CoarseToFine::keep_better(const PassOutcome &outcome) {
    for (const SearchStatePtr &state : outcome.ranked) {
        rank(state);
    }
    if (outcome.best == nullptr || (best_ != nullptr && outcome.best->cost() >= best_->cost())) {
        return false;
    }
    best_ = outcome.best;
    budget_.note_schedule();
    return true;
}

// Keeps the schedule if it is one of the best and none that is known.
void CoarseToFine::rank(const SearchStatePtr &state) {
    const auto comes_before = [](const SearchStatePtr &a, const SearchStatePtr &b) {
        return std::make_pair(a->cost(), full_hash(*a->tree)) <
               std::make_pair(b->cost(), full_hash(*b->tree));
    };
    const auto at = std::lower_bound(ranked_.begin(), ranked_.end(), state, comes_before);
    if (at != ranked_.end() && (*at)->tree->same_structure(*state->tree)) {
        return;
    }
    ranked_.insert(at, state);
    if (ranked_.size() > static_cast<size_t>(options_.top_k)) {
        ranked_.pop_back();
    }
}

// In small pipelines refinement finds as much for less, unless passes are what is asked for.
bool CoarseToFine::tries_eager_inlining() const {
    return (options_.num_passes > 0 || graph_.num_non_input_funcs() > kFewFuncs) &&
           has_eagerly_inlined_funcs();
}

bool CoarseToFine::has_eagerly_inlined_funcs() const {
    for (const FuncNode &func : graph_.funcs) {
        if (is_inlined_eagerly(func) && can_inline(func) && !inlining_dominates(graph_, func)) {
            return true;
        }
    }
    return false;
}

// The pre-pass: where would the Funcs go if nothing was fused?
void CoarseToFine::freeze(PassSettings &settings) {
    PassSettings pre_pass = settings;
    pre_pass.index = -1;
    pre_pass.moves = settings.moves.without_fusion();
    pre_pass.follows_partial_schedule = false;
    const PassOutcome outcome = run_pass(pre_pass, {});
    if (outcome.best == nullptr) {
        return;
    }
    settings.frozen = FrozenDecisions(graph_, *outcome.best);
    for (const FuncNode &func : graph_.funcs) {
        if (partial_ != nullptr && partial_->constrains(func.id)) {
            settings.frozen.thaw(func.id);
        }
        if (settings.frozen.root_nests(func.id) != nullptr) {
            ANDERSON_LOG(1) << "Frozen at the root: " << func.name;
        } else if (settings.frozen.is_inlined(func.id)) {
            ANDERSON_LOG(1) << "Frozen as inlined: " << func.name;
        }
    }
}

// Greedy choices early on can lead into dead ends. Without fusion, and if recomputing is no reason
// to reject a schedule, there is none as long as Funcs may be computed at the root.
void CoarseToFine::fall_back() {
    ANDERSON_LOG(1) << "No schedule found; trying again without fusion";
    PassSettings settings;
    settings.moves = SpaceOptions::from(options_);
    if (partial_ == nullptr) {
        settings.moves = settings.moves.without_fusion();
    }
    settings.exempt_all = true;
    const PassOutcome outcome = run_pass(settings, {});
    if (outcome.best == nullptr) {
        report_stuck(outcome);
    }
    keep_better(outcome);
    note_progress("search without fusion");
}

PassOutcome CoarseToFine::run_pass(const PassSettings &settings, const PermittedHashes &permitted) {
    const int number = settings.is_pre_pass() ? 0 : ++num_passes_run_;
    stats_.passes++;
    PassOutcome outcome = BeamPass(context_, settings, permitted).run();
    if (outcome.best != nullptr) {
        ANDERSON_LOG(1) << print_pass_result(
            number, outcome.best->cost(), *outcome.best->tree, graph_);
    } else if (outcome.interrupted) {
        ANDERSON_LOG(1) << "Pass " << number << " was given up";
    } else {
        ANDERSON_LOG(1) << "Pass " << number << " found no legal place for Func "
                        << graph_.func(outcome.stuck_func).name << ": "
                        << outcome.rejections.text();
    }
    trim();
    return outcome;
}

void CoarseToFine::note_progress(const std::string &step) {
    progress_.push_back({step, stopwatch_.ms(), best_->cost(), stats_.states_added});
}

// Forgets what has become useless.
void CoarseToFine::trim() {
    evaluator_.trim(budget_.known_bytes());
    interner_.trim();
    store_.trim();
}

void CoarseToFine::report_stuck(const PassOutcome &outcome) const {
    std::ostringstream text;
    text << "There is no legal schedule: nothing is left for Func "
         << graph_.func(outcome.stuck_func).name
         << " with autoscheduler.search_space_options=" << options_.search_space_options << ". ";
    if (outcome.rejections.empty()) {
        text << "Allow more moves, e.g. autoscheduler.search_space_options=1111.";
    } else {
        text << "Candidates were dropped by: " << outcome.rejections.text()
             << ". Allow more moves or raise the limit.";
    }
    throw UserError(text.str());
}

SearchResult CoarseToFine::make_result() {
    SearchResult result;
    result.best = best_->tree;
    result.cost = best_->cost();
    result.stage_costs.assign(best_->costs->per_stage.begin(), best_->costs->per_stage.end());
    result.features = featurizer_.featurize(best_->tree).features;
    rank(best_);
    for (const SearchStatePtr &state : ranked_) {
        result.top.push_back(
            {state->tree, state->cost(), featurizer_.featurize(state->tree).features});
    }

    result.progress = std::move(progress_);
    if (!options_.record_path.empty()) {
        result.alternatives = find_alternatives(context_, base_settings_, best_);
    }
    stats_.featurizations = evaluator_.num_featurized();
    stats_.memoization_hits = evaluator_.blocks().hits();
    stats_.memoization_misses = evaluator_.blocks().misses();
    stats_.schedules_evaluated += evaluator_.num_evaluated();
    stats_.featurization_ms = evaluator_.featurization_ms();
    stats_.feature_write_ms = evaluator_.feature_write_ms();
    stats_.enqueue_ms = evaluator_.enqueue_ms();
    stats_.cost_model_ms = evaluator_.cost_model_ms();
    result.stats = stats_;
    return result;
}

}  // namespace

int max_passes(const Options &options) {
    const int passes = num_passes(options);
    if (passes == 1 || options.beam_size == 1) {
        return passes + static_cast<int>(options.freeze_inline_compute_root != 0);
    }
    // In the whole space, in the smaller one, refinement.
    return 2 * passes + 1;
}

SearchResult search(const PipelineGraph &graph,
                    RegionStore &store,
                    const GpuDevice &device,
                    const Options &options,
                    CostModel &cost_model,
                    const SearchHooks &hooks) {
    check_options(options);
    return CoarseToFine(graph, store, device, options, cost_model, hooks).run();
}

}  // namespace anderson2021
