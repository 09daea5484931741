// The weak learner of [B]: a x + b by weighted least squares, min sum |w| (g + sign w)^2, on the best single attribute.
//
// Sums over rows are integers: terms are rounded to a power-of-two grid that follows from the largest weight, the
// largest value of each attribute and the number of all rows. So the result depends neither on threads nor on the order
// or the parts of the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "mcboost/state.hpp"

namespace permissible::mcboost {

/// Standardised attributes, row-major (n, d), and the least and largest value of each (over the rows of all parts);
/// `allowed` (d) leaves columns out, `share` (n, or null) leaves rows out of the fit.
struct Attributes {
    const double* values;
    int count;
    const double* low;
    const double* high;
    const uint8_t* allowed;
    const double* share;
};

/// One affine function per coordinate of the gradient: g_r = slope[r] x + intercept[r]; column -1 when none has a
/// slope.
struct Affine {
    int column;
    std::vector<double> slope, intercept;
    double explained;  // the fraction of sum |w| that the fit explains, in [0, 1]: the certificate's remaining edge
};

/// How terms become integers: the weight is brought below 1 by a power of two; a term of an attribute is a multiple of
/// `unit[c]` (of w x) or `square[c]` (of w x^2), one of the totals of `whole`.
struct AffineGrid {
    AffineGrid(double largest_weight, const Attributes& attributes, std::size_t rows);
    double to_weight;
    double whole;
    std::vector<double> unit, square;
};

/// The largest weight of a row: its gradient along a coordinate, or the norm of all (`outputs` > 1).
double largest_weight(const State& state, int outputs);

/// Integer sums of all rows, laid out [|w|x (d) | |w|x^2 (d) | w_0 x (d) | w_1 x (d) ... | |w| | w_0 | w_1 ...]; those
/// of parts of the rows add.
std::vector<int64_t> affine_sums(const State& state, const Attributes& attributes, int outputs, const AffineGrid& grid);

/// The best fit, from the sums alone.
Affine choose_affine(const int64_t* sums, const Attributes& attributes, int outputs, const AffineGrid& grid);

/// Fits to state.gradient, which holds `outputs` coordinates; the weight of a row is the norm of its gradient.
Affine fit_affine(const State& state, const Attributes& attributes, int outputs);

/// The step of every row along a coordinate, or (-1) along all.
void set_affine(State& state, const Attributes& attributes, const Affine& fit, int coordinate);

/// The largest change of a score per unit of leverage, at the least or the largest value of the attribute.
double affine_reach(const Affine& fit, const Attributes& attributes, int coordinate, int classes);

/// Its mean square, for an attribute of mean 0 and variance 1; along all coordinates the sum of theirs.
double affine_square(const Affine& fit, int coordinate, int classes);

}  // namespace permissible::mcboost
