// Offset and unit of a point card: the minimum of a convex function of two numbers over the totals of the card (twin:
// learners/points/lines.py). The cost does not depend on the number of rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "losses/passes.hpp"

namespace permissible::rules {

/// Score of a total t is offset + unit * t; `value` is the loss with the penalty ridge * unit^2 / 2.
struct Line {
    double offset = 0.0, unit = 0.0, value = 0.0;
};

/// `weight` holds the weight of negatives and positives at each total.
Line fit_line(const LossPasses& loss, const double* weight, std::size_t n_totals, double ridge, double offset,
              double unit);

/// Patterns of rules (n_patterns, n_rules), and the weight of negatives and positives of each in units of 1 / grid.
struct CardCells {
    const uint8_t* bits;
    const int64_t* weight;
    std::size_t n_patterns, n_rules;
    double grid;
};

/// The line of the card with these points; its ridge is l2 / 2 * sum of squares of the points.
Line fit_card(const LossPasses& loss, const CardCells& cells, const int64_t* points, double l2, double offset,
              double unit);

}  // namespace permissible::rules
