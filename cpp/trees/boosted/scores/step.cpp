// See step.hpp.
#include "trees/boosted/scores/step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace permissible::boosted {

namespace {

constexpr int kMostPasses = 60;
constexpr double kReach = 4.0;  // of an unchecked step where the curvature says nothing of it

/// Derivative and curvature of the penalised surrogate along each step, with the sign that makes a descent positive.
struct Slopes {
    const LeafSums& sums;
    double l2;
    double slope(std::size_t i, double step) const {
        return static_cast<double>(sums.gradient[i]) / sums.gradient_grid - l2 * step;
    }
    double curvature(std::size_t i) const { return static_cast<double>(sums.curvature[i]) / sums.curvature_grid + l2; }
};

/// Zeros of the derivative, each in its own bracket.
std::vector<double> exact_steps(const LeafSums& here, const SumsAt& sums_at, const StepRule& rule, double l2) {
    const std::size_t n = here.gradient.size();
    std::vector<double> step(n, 0.0), low(n, -rule.cap), high(n, rule.cap);
    std::vector<uint8_t> settled(n, 0);
    LeafSums sums = here;
    for (int pass = 0; pass < kMostPasses; ++pass) {
        const Slopes at{sums, l2};
        bool moving = false;
        for (std::size_t i = 0; i < n; ++i) {
            if (settled[i]) continue;
            const double slope = at.slope(i, step[i]), curvature = at.curvature(i);
            if (slope == 0.0) {
                settled[i] = 1;
                continue;
            }
            (slope > 0.0 ? low : high)[i] = step[i];
            double next = step[i] + slope / curvature;
            const double longest = step[i] + std::copysign(kReach * (1.0 + std::fabs(step[i])), slope);
            if (!(curvature > 0.0) || std::fabs(next - step[i]) > std::fabs(longest - step[i])) next = longest;
            if (!(next > low[i] && next < high[i])) next = 0.5 * (low[i] + high[i]);
            settled[i] = std::fabs(next - step[i]) <= 1e-10 * (1.0 + std::fabs(next));
            step[i] = next;
            moving = moving || !settled[i];
        }
        if (!moving) break;
        sums = sums_at(step.data());
    }
    return step;
}

/// Halves steps until no derivative has changed its sign: then every leaf's surrogate has fallen.
void check_steps(std::vector<double>& step, const SumsAt& sums_at, double l2) {
    for (int pass = 0; pass < kMostPasses; ++pass) {
        const LeafSums sums = sums_at(step.data());
        bool halved = false;
        for (std::size_t i = 0; i < step.size(); ++i) {
            if (step[i] == 0.0 || Slopes{sums, l2}.slope(i, step[i]) * step[i] >= 0.0) continue;
            step[i] *= 0.5;
            halved = true;
        }
        if (!halved) return;
    }
}

}  // namespace

double step_limit(const StepRule& rule, double learning_rate) {
    if (!(rule.slope > 0.0)) return std::numeric_limits<double>::infinity();
    const double ratio = 0.75 / (learning_rate * rule.excess);
    double low = 0.0, high = 40.0;
    for (int k = 0; k < 60; ++k) {
        const double s = 0.5 * (low + high);
        (std::expm1(s) - s <= ratio * s * s ? low : high) = s;
    }
    return low / rule.slope;
}

std::vector<double> find_steps(const LeafSums& here, const SumsAt& sums_at, const StepRule& rule,
                               const StepOptions& options) {
    const std::size_t n = here.gradient.size();
    if (options.exact) {
        std::vector<double> step = exact_steps(here, sums_at, rule, options.l2);
        for (double& s : step) s *= options.learning_rate;
        return step;
    }
    const double limit = rule.bounded_slope ? step_limit(rule, options.learning_rate) : 0.5 * kReach;
    std::vector<double> step(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Slopes at{here, options.l2};
        const double slope = at.slope(i, 0.0), curvature = at.curvature(i);
        const double whole = curvature > 0.0 ? slope / curvature : std::copysign(limit, slope) * (slope != 0.0);
        step[i] = std::clamp(options.learning_rate * whole, -limit, limit);
    }
    if (!rule.bounded_slope) check_steps(step, sums_at, options.l2);
    return step;
}

}  // namespace permissible::boosted
