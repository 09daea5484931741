// The exact intercept: the loss as a function of b alone is piecewise linear, so its minimum is a weighted median of
// the kinks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "boundary/segments.hpp"

namespace permissible::boundary {

/// Minimise sum c phi(y (f + b)) over b, f given; `near` is where to search first. Returns the middle of an interval of
/// minimisers.
inline double best_intercept(const Problem& problem, const double* f, const int8_t* positive, const double* weight,
                             std::size_t n, double near) {
    // Right derivative in b; it rises by c D_k at each kink b = y h_k - f.
    auto derivative = [&](double b) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Segments& loss = problem.side[positive[i] != 0];
            const double score = f[i] + b;
            double t = 0;
            if (positive[i]) {
                for (int k = 0; k < loss.count; ++k) t -= score < loss.hinge[k] ? loss.width[k] : 0.0;
            } else {
                for (int k = 0; k < loss.count; ++k) t += -score <= loss.hinge[k] ? loss.width[k] : 0.0;
            }
            sum += weight[i] * t;
        }
        return sum;
    };
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += weight[i] * problem.side[positive[i] != 0].total();
    const double level = 1e-14 * total;  // slopes this small count as flat
    double low = near, high = near;
    for (double reach = 1e-6; reach < 1e12 && derivative(low) >= -level; reach *= 8) low = near - reach;
    for (double reach = 1e-6; reach < 1e12 && derivative(high) <= level; reach *= 8) high = near + reach;
    std::vector<std::pair<double, double>> kinks;  // those inside (low, high], with their rise
    for (std::size_t i = 0; i < n; ++i) {
        const Segments& loss = problem.side[positive[i] != 0];
        if (weight[i] <= 0) continue;
        for (int k = 0; k < loss.count; ++k) {
            const double at = (positive[i] ? loss.hinge[k] : -loss.hinge[k]) - f[i];
            if (at > low && at <= high) kinks.emplace_back(at, weight[i] * loss.width[k]);
        }
    }
    std::sort(kinks.begin(), kinks.end());
    double slope = derivative(low);
    for (std::size_t j = 0; j < kinks.size(); ++j) {
        slope += kinks[j].second;
        if (slope >= -level) {
            const bool flat = slope <= level && j + 1 < kinks.size();
            return flat ? 0.5 * (kinks[j].first + kinks[j + 1].first) : kinks[j].first;
        }
    }
    return high;
}

}  // namespace permissible::boundary
