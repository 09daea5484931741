// The steps of the leaves of one tree, from sums over all rows: (35) of [N], one number per leaf and output. The law:
// the surrogate falls with every step, for any convex loss.
//
// One Newton step is G / (H + l2). Where |k'| <= c k, the surrogate along a step s lies below
// -G s + H (e^(c s) - c s - 1) / c^2, which bounds how far a shrunken Newton step may go (`step_limit`). Other losses
// are checked: a step after which the derivative has changed its sign is halved. `exact` looks for the zero of the
// derivative itself, by Newton's method inside a bracket.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trees/boosted/scores/scores.hpp"

namespace permissible::boosted {

struct StepOptions {
    double learning_rate = 0.1;
    double l2 = 1.0;
    bool exact = false;
};

/// The largest step that is sure to lower the surrogate by a quarter of what its first-order term promises.
double step_limit(const StepRule& rule, double learning_rate);

/// Derivative sums of all leaves at a step.
using SumsAt = std::function<LeafSums(const double* step)>;

/// Steps (leaves, outputs), shrinkage included.
std::vector<double> find_steps(const LeafSums& here, const SumsAt& sums_at, const StepRule& rule,
                               const StepOptions& options);

}  // namespace permissible::boosted
