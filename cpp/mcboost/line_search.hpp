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

/// Newton inside a bracket. `largest_move` is what a unit of leverage moves the scores by at most: no step moves them
/// by more than a hundred (separable rows have no finite minimiser), and moves that scores of size one cannot hold are
/// none, so that a slope of rounding errors is not searched.
LineSearch minimise(const std::function<Slopes(double)>& slopes_at, double largest_move);

}  // namespace permissible::mcboost
