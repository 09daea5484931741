// The boosting loop for built-in losses, from start to end in compiled code; learners/uls/boost.py is the readable
// version of the same loop.
#pragma once

#include <functional>
#include <vector>

#include "rules/leverage.hpp"
#include "rules/rows.hpp"
#include "rules/search/grow.hpp"

namespace permissible::rules {

struct LoopOptions {
    GrowOptions grow;
    int n_rounds = 100;
    bool fit_constant = true;  // the constant is refitted with each rule: two values
    double learning_rate = 1.0;
    double tolerance = 1e-10;
    uint64_t seed = 0;
    int first_round = 0;         // rounds already taken, if a fit is continued
    bool start_constant = true;  // fit the constant before the first round
    double max_seconds = 0.0;    // 0: no limit
    int patience = 0;            // stop after so many rounds without a new least held-out loss; 0: never
    bool certified = true;       // compute what is left to gain at the end
};

enum class Stop : int { rounds = 0, no_edge = 1, separable = 2, time = 3, interrupted = 4, held_out = 5 };

struct Round {
    std::vector<Candidate> literals;
    double value_in = 0.0, value_out = 0.0;  // after shrinkage
    double edge = 0.0;
    double weight = 0.0;     // sum of the weights before the step
    double surrogate = 0.0;  // sums after the step
    double error = 0.0;
    double covered = 0.0, covered_positive = 0.0;  // sample weight that the rule covers
    double validation = 0.0;
    int passes = 0;
    bool endless = false;  // a side had no finite value
};

struct LoopResult {
    double constant = 0.0;  // what was fitted before the first round
    double start_surrogate = 0.0, start_error = 0.0, start_validation = 0.0;
    std::vector<Round> rounds;
    Stop stop = Stop::rounds;
    double largest_edge = 0.0;  // of a rule of one literal, under the last weights
    double gradient_norm =
        0.0;  // of the rules found (and the constant), over the sum of weights; NaN when not computed
};

/// Up to this many rows times rules the gradient is computed at the end of a fit.
inline constexpr double kGradientWork = 2e7;

/// Weights have vanished if their sum is below this fraction of the sum at score 0: nothing is left to gain.
inline constexpr double kFaded = 1e-9;

/// The sums of the last pass over the rows, as real values.
struct FitState {
    double weight = 0.0, curvature = 0.0, surrogate = 0.0, error = 0.0, covered = 0.0, covered_positive = 0.0;
    double low_state = 0.0, high_state = 0.0;
};

/// Values of a step, (in, out), with exact leverage; `capped` when no side has a finite one within the cap.
struct Leverage {
    double value_in = 0.0, value_out = 0.0;
    bool capped = false;
    int passes = 0;
};

/// From a score per row; null: from 0.
FitState restart(Rows& rows, const double* score);
FitState take_step(Rows& rows, const RuleMask& rule, double value_in, double value_out, const FitState& now);
Leverage leverage(Rows& rows, const RuleMask& rule, bool two_values, double l2, double start_in, double start_out,
                  const FitState& now);

/// `on_round(round)` is called regularly; false stops the loop.
LoopResult run_loop(Rows& rows, Rows* validation, const std::vector<ColumnLayout>& layouts, const LoopOptions& options,
                    const double* start_scores, const std::function<bool(int)>& on_round);

}  // namespace permissible::rules
