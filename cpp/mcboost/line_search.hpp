// The leverage of a step: the minimum of a convex function along a line, known by its slopes alone.
#pragma once

#include <functional>

#include "losses/multiclass.hpp"

namespace permissible::mcboost {

struct LineSearch {
    double leverage;
    bool capped;
    int evaluations;
};

/// Newton inside a bracket. `largest_move` is the largest change of a score per unit of leverage. No step moves a score
/// by more than a hundred (separable rows have no finite minimiser). Moves below the rounding of scores of size one
/// count as zero, so that a slope of rounding errors is not searched. `penalty` / 2
/// alpha^2 is added to the function.
LineSearch minimise(const std::function<Slopes(double)>& slopes_at, double largest_move, double penalty = 0.0);

}  // namespace permissible::mcboost
