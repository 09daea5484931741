// The weak learner of [B]: a x + b by weighted least squares, min sum |w| (g + sign w)^2, on the best single attribute.
#pragma once

#include <cstdint>
#include <vector>

#include "mcboost/state.hpp"

namespace permissible::mcboost {

/// Standardised attributes, row-major (n, d); `allowed` (d) leaves columns out, `share` (n, or null) leaves rows out of
/// the fit.
struct Attributes {
    const double* values;
    int count;
    const uint8_t* allowed;
    const double* share;
};

/// One affine function per coordinate of the gradient: g_r = slope[r] x + intercept[r]; column -1 when none has a
/// slope.
struct Affine {
    int column;
    std::vector<double> slope, intercept;
    double explained;  // the share of sum |w| that the fit explains, in [0, 1]: the certificate's remaining edge
};

/// Fits to state.gradient, which holds `outputs` coordinates; the weight of a row is the norm of its gradient.
Affine fit_affine(const State& state, const Attributes& attributes, int outputs);

}  // namespace permissible::mcboost
