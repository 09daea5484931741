// See line_search.hpp. The slopes are sums without rounding of their own (exact.hpp), but each of their terms has
// been rounded: at an optimum what is left of a slope is that, and Newton's step for it is below the least move.
#include "mcboost/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace permissible::mcboost {

namespace {

constexpr double kLargestMove = 100.0;
constexpr int kEvaluations = 100;
constexpr int kNewton = 40;  // from here on a bracket is halved: down a steep exponential Newton moves by a unit a step
constexpr double kLeastMove = 1e-16;  // less than half of the last bit of a score of size one

}  // namespace

// Bisects when Newton leaves the bracket. The derivative is increasing in alpha (the loss is convex).
LineSearch minimise(const std::function<Slopes(double)>& slopes_of_rows, double largest_move, double penalty) {
    const auto slopes_at = [&](double alpha) {
        const Slopes of_rows = slopes_of_rows(alpha);
        return Slopes{of_rows.first + penalty * alpha, of_rows.second + penalty};
    };
    int evaluations = 1;
    Slopes at = slopes_at(0.0);
    if (!(largest_move > 0) || at.first == 0) return {0.0, false, evaluations};
    const double sign = at.first < 0 ? 1.0 : -1.0, limit = kLargestMove / largest_move;
    const double still = kLeastMove / largest_move;
    const double flat = 1e-13 * std::abs(at.first), nearly_flat = 1e-8 * std::abs(at.first), bend = 1e-6 * at.second;
    double inner = 0.0, outer = limit, alpha = 0.0;  // on the half-line of descent, alpha = sign * u
    bool bracketed = false;
    double u = at.second > 0 ? std::min(std::abs(at.first) / at.second, limit) : 1.0;
    if (u <= still) return {0.0, false, evaluations};
    if (!(u > 0)) u = limit;
    for (; evaluations < kEvaluations; ++evaluations) {
        at = slopes_at(sign * u);
        const double slope = sign * at.first;
        alpha = u;
        if (std::abs(slope) <= flat) break;
        // Nearly flat and no longer bending, with the minimum still ahead: the rows are separable along this direction.
        if (!bracketed && slope < 0 && -slope <= nearly_flat && at.second <= bend) return {sign * u, true, evaluations};
        (slope < 0 ? inner : outer) = u;
        bracketed = bracketed || slope > 0;
        if (slope < 0 && u >= limit) return {sign * limit, true, evaluations};
        double next = at.second > 0 ? u - slope / at.second : std::numeric_limits<double>::infinity();
        if (!bracketed) {
            next = std::min(std::max(next, 2.0 * u), limit);
            if (at.second > 0 && u - slope / at.second < 2.0 * u) next = u - slope / at.second;
        } else if (evaluations >= kNewton || !(next > inner && next < outer)) {
            next = 0.5 * (inner + outer);
        }
        if (std::abs(next - u) <= std::max(1e-12 * std::max(u, 1e-3), still)) {
            alpha = next;
            break;
        }
        u = next;
    }
    // Without an end the last point may lie beyond the minimum, where nothing is known of the value: `inner` is
    // downhill.
    if (evaluations == kEvaluations) alpha = inner;
    return {sign * alpha, false, evaluations};
}

}  // namespace permissible::mcboost
