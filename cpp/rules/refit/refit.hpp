// The refit of the coefficients of +-1 rules over patterns (twin: learners/uls/refit.py with learners/newton.py):
// damped Newton's method on sum of b F + penalty / 2 * sum of squares, the constant free of penalty.
#pragma once

#include <cstddef>
#include <cstdint>

#include "losses/passes.hpp"

namespace permissible::rules {

/// Patterns (n_patterns, n_rules) and the weight of negatives and positives of each.
struct WeightedPatterns {
    const uint8_t* bits;
    const double* weight;
    std::size_t n_patterns, n_rules;
};

/// The largest derivative over the free coefficients, as a fraction of what it could be at score 0, and whether the
/// minimum was found. Where it was not, the readable twin looks for the reason.
struct Refitted {
    double residual = 0.0;
    bool converged = false;
};

/// Moves the free ones of theta = (constant, coefficients) to the minimum, in at most so many steps.
Refitted refit(const LossPasses& loss, const WeightedPatterns& patterns, const uint8_t* free, double penalty,
               int max_steps, double* theta);

}  // namespace permissible::rules
