// The K-segment loss of one class as K weighted hinges ((18) in [K], docs/mathematics.md): with h decreasing,
//   phi(z) = sum_k D_k (h_k - z)_+,  conjugate part g(t) = sum_k h_k clip(t - t_{k-1}, 0, D_k),  t_k = D_1 + .. + D_k.
// A row's dual variable t is minus the slope of phi at its margin z = y f.
#pragma once

#include <algorithm>
#include <cstddef>

namespace permissible::boundary {

struct Segments {
    int count = 0;
    const double* hinge = nullptr;  // h_1 > h_2 > ...
    const double* width = nullptr;  // D_k > 0

    double total() const {
        double sum = 0;
        for (int k = 0; k < count; ++k) sum += width[k];
        return sum;
    }
    double loss(double z) const {
        double value = 0;
        for (int k = 0; k < count; ++k) value += width[k] * std::max(hinge[k] - z, 0.0);
        return value;
    }
    /// The slope -phi'(z) where it exists, the smaller one at a kink.
    double slope(double z) const {
        double t = 0;
        for (int k = 0; k < count; ++k) t += z < hinge[k] ? width[k] : 0.0;
        return t;
    }
    /// g(t): the part of the dual objective that a row contributes.
    double gain(double t) const {
        double value = 0;
        for (int k = 0; k < count; ++k) {
            double part = std::min(t, width[k]);
            if (part <= 0) break;
            value += hinge[k] * part;
            t -= width[k];
        }
        return value;
    }
    double distance_to_kink(double z) const {
        double nearest = 1e300;
        for (int k = 0; k < count; ++k) nearest = std::min(nearest, hinge[k] > z ? hinge[k] - z : z - hinge[k]);
        return nearest;
    }
};

/// Both classes: [0] negative, [1] positive. The strength is lambda * sum of weights, the multiplier of |w|^2 / 2 once
/// (18) is multiplied by the total weight.
struct Problem {
    Segments side[2];
    double strength = 0;
    bool penalize_intercept = false;
    bool fit_intercept = true;
};

}  // namespace permissible::boundary
