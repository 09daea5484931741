// The exact intercept: the loss as a function of b alone is piecewise linear, so its minimum is a weighted median of
// the kinks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "boundary/segments.hpp"

namespace permissible::boundary {

/// Minimise sum c phi(y (f + b)) over b, f given; `near` is where to look first. The middle of an interval of minima.
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
    double low = near, high = near, reach = 1e-6;
    for (const double at = derivative(near); reach < 1e12; reach *= 8) {
        if (at >= 0) {
            low = near - reach;
            if (derivative(low) < 0) break;
        } else {
            high = near + reach;
            if (derivative(high) >= 0) break;
        }
    }
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
    double slope = derivative(low), scale = 0;
    for (const auto& kink : kinks) scale += kink.second;
    for (std::size_t j = 0; j < kinks.size(); ++j) {
        slope += kinks[j].second;
        if (slope >= -1e-14 * scale) {
            const bool flat = slope <= 1e-14 * scale && j + 1 < kinks.size();
            return flat ? 0.5 * (kinks[j].first + kinks[j + 1].first) : kinks[j].first;
        }
    }
    return high;
}

}  // namespace permissible::boundary
