// Offset and unit of a point card: the minimum of a convex function of two numbers over the totals of the card (twin:
// learners/points/lines.py). The cost does not depend on the number of rows.
#pragma once

#include <cstddef>

#include "losses/passes.hpp"

namespace permissible::rules {

/// Score of a total t is offset + unit * t; `value` is the loss with the penalty ridge * unit^2 / 2.
struct Line {
    double offset = 0.0, unit = 0.0, value = 0.0;
};

/// `weight` holds the weight of negatives and positives at each total.
Line fit_line(const LossPasses& loss, const double* weight, std::size_t n_totals, double ridge, double offset,
              double unit);

}  // namespace permissible::rules
