// Algorithm 1 (ULS) with a rule search: weights, rule, leverage, update.
#include "rules/loop.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "rules/sampled.hpp"

namespace permissible::rules {

namespace {

Grids grids_for(const Rows& rows, const FitState& now, double reach) {
    const Bounds bounds = rows.passes().bounds(now.low_state, now.high_state, reach);
    const double sample = rows.largest_sample();
    return {pass_grid(bounds.weight * sample), pass_grid(bounds.curvature * sample), pass_grid(bounds.value * sample),
            rows.mode() == WeightMode::real ? pass_grid(sample) : 1.0};
}

FitState fit_state(const StepSums& sums, const Grids& grids) {
    const auto real = [](__int128 sum, double grid) { return static_cast<double>(sum) / grid; };
    return {real(sums.weight, grids.weight),
            real(sums.curvature, grids.curvature),
            real(sums.value, grids.value),
            real(sums.error, grids.error),
            real(sums.covered, grids.error),
            real(sums.covered_positive, grids.error),
            sums.low_state,
            sums.high_state};
}

/// f, f' and f'' of one side at a step, less those of `other` sides: sums of y w, curvature and y slope.
Slopes slopes(const __int128* sums, double step, double l2, const Grids& grids) {
    return {static_cast<double>(sums[0]) / grids.weight - l2 * step,
            -(static_cast<double>(sums[1]) / grids.curvature) - l2, -(static_cast<double>(sums[2]) / grids.curvature)};
}

/// Sums are computed again if the margins are far from the bounds used for the grids: an exponential loss would lose
/// more than 8 of the 46 bits of a term.
FitState refined(Rows& rows, FitState now, const Grids& grids) {
    constexpr double coarse = 256.0;
    const Grids finer = grids_for(rows, now, 0.0);
    if (finer.weight > coarse * grids.weight || finer.curvature > coarse * grids.curvature ||
        finer.value > coarse * grids.value) {
        const double covered = now.covered, covered_positive = now.covered_positive;
        now = fit_state(rows.apply({}, 0.0, 0.0, finer), finer);
        now.covered = covered;
        now.covered_positive = covered_positive;
    }
    return now;
}

}  // namespace

FitState restart(Rows& rows, const double* score) {
    double high = 0.0;
    if (score != nullptr) {
        for (std::size_t i = 0; i < rows.n_rows(); ++i) high = std::max(high, std::fabs(score[i]));
    }
    const double a = rows.passes().state_of(-high), b = rows.passes().state_of(high);
    FitState start;
    start.low_state = std::min(a, b);
    start.high_state = std::max(a, b);
    const Grids grids = grids_for(rows, start, 0.0);
    return refined(rows, fit_state(rows.restart(score, 0.0, grids), grids), grids);
}

FitState take_step(Rows& rows, const RuleMask& rule, double value_in, double value_out, const FitState& now) {
    const Grids grids = grids_for(rows, now, std::max(std::fabs(value_in), std::fabs(value_out)));
    return refined(rows, fit_state(rows.apply(rule, value_in, value_out, grids), grids), grids);
}

Leverage leverage(Rows& rows, const RuleMask& rule, bool two_values, double l2, double start_in, double start_out,
                  const FitState& now) {
    const double remainder = rows.passes().remainder(), cap = rows.passes().cap();
    Root in, out;
    in.value = std::clamp(start_in, -cap, cap);
    out.value = std::clamp(start_out, -cap, cap);
    if (rule.empty()) out.done = true;
    Leverage step;
    while (!(in.done && out.done)) {
        const std::vector<double> v = in.trials(remainder), u = out.trials(remainder);
        std::vector<std::pair<double, double>> trials;
        double reach = 0.0;
        for (std::size_t k = 0; k < v.size(); ++k) {
            trials.emplace_back(v[k], two_values ? u[k] : -v[k]);
            reach = std::max({reach, std::fabs(trials[k].first), std::fabs(trials[k].second)});
        }
        const Grids grids = grids_for(rows, now, reach);
        const std::vector<Measured> sums = rows.measure(rule, trials, grids);
        std::vector<Slopes> at_in, at_out;
        for (std::size_t k = 0; k < v.size(); ++k) {
            at_in.push_back(slopes(sums[k].in, trials[k].first, l2, grids));
            at_out.push_back(slopes(sums[k].out, trials[k].second, l2, grids));
            if (!two_values) at_in[k] = at_in[k].less_mirrored(at_out[k]);
        }
        ++step.passes;
        in.advance(at_in, remainder, cap);
        if (two_values) out.advance(at_out, remainder, cap);
        if (!two_values) out.done = in.done;
    }
    if (two_values && !rows.passes().attained()) {
        in.retreat();
        out.retreat();
    }
    step.value_in = in.value;
    step.value_out = two_values ? out.value : -in.value;
    step.capped = in.capped && (out.capped || !two_values);
    return step;
}

namespace {

class Loop {
  public:
    Loop(Rows& rows, Rows* validation, const std::vector<ColumnLayout>& layouts, const LoopOptions& options,
         const std::function<bool(int)>& on_round)
        : rows_(rows),
          validation_(validation),
          layouts_(layouts),
          options_(options),
          on_round_(on_round),
          begun_(std::chrono::steady_clock::now()) {}

    LoopResult run(const double* start_scores) {
        begin(start_scores);
        for (int round = 0; round < options_.n_rounds; ++round) {
            if (!on_round_(round)) return finish(Stop::interrupted);
            if (out_of_time()) return finish(Stop::time);
            if (now_.surrogate <= options_.tolerance * loss_at_zero_) {  // the loss is 0 up to the tolerance
                return finish(rows_.passes().attained() ? Stop::no_edge : Stop::separable);
            }
            const uint64_t seed = options_.seed + static_cast<uint64_t>(options_.first_round + round);
            const double share = options_.grow.share;
            const GrownRule grown = grow_rule(rows_, layouts_, options_.grow, search_request(rows_, now_, share, seed),
                                              now_.curvature, buffers_);
            if (grown.literals.empty() || !(grown.decrease > options_.tolerance * now_.surrogate)) {
                return finish(Stop::no_edge);
            }
            if (!take(grown, share < 1.0 ? edge_of(rows_, now_, mask_of(grown.literals)) : grown.edge()))
                return finish(Stop::separable);
            if (stalled()) return finish(Stop::held_out);
        }
        return finish(Stop::rounds);
    }

  private:
    void begin(const double* start_scores) {
        join_columns(rows_, layouts_, options_.n_rounds);
        now_ = restart(rows_, start_scores);
        everything_ = now_.covered;
        positives_ = now_.covered_positive;
        loss_at_zero_ = rows_.passes().value_of(0.0) * rows_.total_weight();
        if (validation_ != nullptr) held_ = restart(*validation_, nullptr);
        if (options_.fit_constant && options_.start_constant) {
            const Leverage step = leverage(rows_, {}, true, 0.0, 0.0, 0.0, now_);
            result_.constant = step.value_in;
            now_ = take_step(rows_, {}, step.value_in, 0.0, now_);
            if (validation_ != nullptr) held_ = take_step(*validation_, {}, step.value_in, 0.0, held_);
        }
        result_.start_surrogate = now_.surrogate;
        result_.start_error = now_.error;
        result_.start_validation = held_.surrogate;
    }

    /// Leverage, shrink, apply, record; false if the rule separates the classes; the step is then the cap.
    bool take(const GrownRule& grown, double edge) {
        const RuleMask rule = mask_of(grown.literals);
        const double l2 = options_.grow.l2;
        Leverage step;
        if (options_.fit_constant) {
            const double out = grown.weight_all - grown.weight_in, curved = grown.curvature_all - grown.curvature_in;
            step = leverage(rows_, rule, true, l2, grown.weight_in / (grown.curvature_in + l2 + 1e-300),
                            out / (curved + l2 + 1e-300), now_);
        }
        if (!options_.fit_constant) {
            const double start = (2.0 * grown.weight_in - grown.weight_all) / (now_.curvature + 2.0 * l2 + 1e-300);
            step = leverage(rows_, rule, false, l2, start, -start, now_);
        }
        Round round;
        round.literals = grown.literals;
        round.value_in = options_.learning_rate * step.value_in;
        round.value_out = options_.learning_rate * step.value_out;
        round.edge = edge / now_.weight;
        round.weight = now_.weight;
        round.passes = step.passes;
        now_ = take_step(rows_, rule, round.value_in, round.value_out, now_);
        round.surrogate = now_.surrogate;
        round.error = now_.error;
        round.covered = now_.covered;
        round.covered_positive = now_.covered_positive;
        const bool unbounded = options_.fit_constant && !(l2 > 0.0) && !rows_.passes().attained();
        round.endless = unbounded && pure_sides() > 0;
        if (validation_ != nullptr) {
            held_ = take_step(*validation_, rule, round.value_in, round.value_out, held_);
            round.validation = held_.surrogate;
        }
        result_.rounds.push_back(std::move(round));
        return !(step.capped && (!options_.fit_constant || pure_sides() == 2));
    }

    /// On how many sides of the last rule all rows are of one class; without l2 a strictly decreasing loss has no
    /// finite value there.
    int pure_sides() const {
        const auto pure = [](double all, double positive) { return all > 0.0 && (positive <= 0.0 || positive >= all); };
        return pure(now_.covered, now_.covered_positive) +
               pure(everything_ - now_.covered, positives_ - now_.covered_positive);
    }

    /// Whether the held-out loss has not had a new minimum for `patience` rounds; a loss that is not finite has none.
    bool stalled() {
        if (validation_ == nullptr || options_.patience <= 0) return false;
        const std::size_t now = result_.rounds.size();
        const double loss = result_.rounds.back().validation;
        if (now == 1 || loss < least_) {
            least_ = loss;
            least_round_ = now;
        }
        return now >= least_round_ + static_cast<std::size_t>(options_.patience);
    }

    bool out_of_time() const {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun_;
        return options_.max_seconds > 0.0 && spent.count() > options_.max_seconds;
    }

    /// What is left to gain: the largest edge of a single literal, and the gradient over the rules found.
    void certify() {
        double at_zero[3];
        rows_.passes().derivatives_of(0.0, at_zero);
        if (!(now_.weight > kFaded * at_zero[0] * rows_.total_weight())) {  // every weight has vanished
            result_.largest_edge = result_.gradient_norm = 0.0;
            return;
        }
        const HistogramRequest request = search_request(rows_, now_, 1.0, 0);
        const std::size_t n_sums = rows_.two_sums() ? 2 : 1;
        buffers_ = {};  // on wide tables a histogram takes more memory than the rows
        Sums sums(layouts_.size() * 256 * n_sums);
        rows_.histogram_of({}, request, sums.data());
        Criterion criterion{false, 0.0, 1.0 / request.weight_grid, 1.0, 0, 1};
        criterion.total_weight = std::accumulate(sums.begin(), sums.begin() + 256, int64_t{0});
        const auto found = best_literals(layouts_, sums.data(), n_sums, criterion, false, {}, 1);
        result_.largest_edge = found.empty() ? 0.0 : std::sqrt(2.0 * found[0].decrease) / now_.weight;
        const double all = static_cast<double>(criterion.total_weight) / request.weight_grid;
        double squares = options_.fit_constant ? all * all : 0.0;
        const std::vector<RuleMask> rules = rules_found();
        if (static_cast<double>(rows_.n_rows()) * static_cast<double>(rules.size()) > kGradientWork) {
            squares = std::numeric_limits<double>::quiet_NaN();
        } else {
            for (const int64_t sum : rows_.signed_weights_of(rules, request.weight_grid)) {
                const double in = static_cast<double>(sum) / request.weight_grid;
                squares += (2.0 * in - all) * (2.0 * in - all);
            }
        }
        result_.gradient_norm = std::sqrt(squares) / now_.weight;
    }

    /// Each distinct rule once.
    std::vector<RuleMask> rules_found() const {
        using Key = std::tuple<int, Test, int, bool, std::array<uint8_t, 256>>;
        std::set<std::vector<Key>> known;
        std::vector<RuleMask> rules;
        for (const Round& round : result_.rounds) {
            std::vector<Key> key;
            for (const Candidate& literal : round.literals) {
                key.emplace_back(literal.column, literal.test, literal.code, literal.missing, literal.members);
            }
            if (known.insert(std::move(key)).second) rules.push_back(mask_of(round.literals));
        }
        return rules;
    }

    LoopResult finish(Stop stop) {
        if (stop != Stop::interrupted && options_.certified) certify();
        result_.stop = stop;
        return std::move(result_);
    }

    Rows& rows_;
    Rows* validation_;
    const std::vector<ColumnLayout>& layouts_;
    const LoopOptions& options_;
    const std::function<bool(int)>& on_round_;
    std::chrono::steady_clock::time_point begun_;
    FitState now_, held_;
    double loss_at_zero_ = 0.0;
    double least_ = 0.0;  // held-out loss so far, and after how many rounds
    std::size_t least_round_ = 0;
    double everything_ = 0.0, positives_ = 0.0;  // sample weight of all rows and of the positives
    SearchSums buffers_;
    LoopResult result_;
};

}  // namespace

LoopResult run_loop(Rows& rows, Rows* validation, const std::vector<ColumnLayout>& layouts, const LoopOptions& options,
                    const double* start_scores, const std::function<bool(int)>& on_round) {
    return Loop(rows, validation, layouts, options, on_round).run(start_scores);
}

}  // namespace permissible::rules
