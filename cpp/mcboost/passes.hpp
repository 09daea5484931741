// Inner loops of a round that carry no loss: plain arrays in, plain arrays out, so that the compiler may run four rows
// at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace permissible::mcboost {

/// top = max over classes of the scores of `count` rows (class-major, `stride` apart), best = the first class that has
/// it.
void largest_scores(const double* scores, std::size_t stride, int classes, std::size_t count, double* top,
                    double* best);

/// e = exp(clip(scores - top)); pass top = nullptr for no shift.
void raised_scores(const double* scores, const double* top, std::size_t count, double limit, double* e);

/// tail = total; term *= cost of the row; total += term. The cost of a row is table[target * classes], or costs[row]
/// (null: 1).
void multiply_by_class(const double* table, const int32_t* target, int classes, std::size_t count, double* term,
                       double* tail, double* total);
void multiply_by_row(const double* costs, std::size_t count, double* term, double* tail, double* total);

/// The passes above in one where all costs are 1: term = exp(clip(scores - top)), tail = the sum over the classes
/// above.
void raise_plainly(const double* scores, const double* top, const double* term_above, const double* tail_above,
                   double limit, std::size_t count, double* term, double* tail);

/// Slope and curvature of GLL along one coordinate for `count` rows, weighted (losses/multiclass.hpp).
struct GllCoordinate {
    const double *low, *pivot, *high;  // the three parts of N
    const int32_t* target;
    const double* weight;  // null: all 1
    int32_t pivot_class;
    double c, kc;
};
void gll_coordinate(const GllCoordinate& rows, std::size_t count, double* gradient, double* curvature);

/// scores += moved + own * pivot, after moved += below * next (null: nothing to add): the moves of one class at the end
/// of a round.
void add_moves(const double* next, double below, const double* pivot, double own, std::size_t count, double* moved,
               double* scores);

/// The gradient of GLL with respect to f, (M-1, n), and its norm, of `count` rows.
struct GllRows {
    const double* terms;  // (M, stride): C_zj e^{S_j}, 1 in place of C_zz
    std::size_t stride;
    const int32_t* target;
    const double* weight;
    int classes;
};
void gll_gradient(const GllRows& rows, const double* scales, std::size_t count, double* gradient, double* norm);

/// The sum of at most 1024 values in [0, 1024), without rounding, as two numbers; before, the values are rounded to
/// multiples of 2^-64 (none but those below 2^-11 change).
struct ValueSums {
    double whole, rest;
};
ValueSums sum_values(std::size_t count, double* values);

/// out = log(x), x > 0.
void logarithms(const double* x, std::size_t count, double* out);

}  // namespace permissible::mcboost
