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

/// The step of two values along a coordinate: low = up * low + down * pivot, each by the side a row is on.
struct TwoMoves {
    double up[2], down[2];
};
void advance_low(const TwoMoves& moves, const uint8_t* side, std::size_t count, double* low, const double* pivot);

/// Slope and curvature of GLL along one coordinate for `count` rows, weighted (losses/multiclass.hpp), and the largest
/// size of each.
struct GllCoordinate {
    const double *low, *pivot, *high;  // the three parts of N
    const int32_t* target;
    const double* weight;  // null: all 1
    int32_t pivot_class;
    double c, kc;
};
struct Sizes {
    double gradient, curvature;
};
Sizes gll_coordinate(const GllCoordinate& rows, std::size_t count, double* gradient, double* curvature);

/// advance_low along one coordinate and gll_coordinate along the next, in one pass. `rows.low` is `low`, `before` the
/// pivot terms of the coordinate that moves.
Sizes gll_advance(const TwoMoves& moves, const uint8_t* side, const double* before, const GllCoordinate& rows,
                  std::size_t count, double* low, double* gradient, double* curvature);

/// scores += moved + own * pivot, after moved += below * next (null: nothing to add): the moves of one class at the end
/// of a round.
void add_moves(const double* next, double below, const double* pivot, double own, std::size_t count, double* moved,
               double* scores);

/// add_moves for steps of two values, and the largest score so far: moved += below, scores += moved + pivot, each by
/// the side a row is on. For the classes from the last to the first; top is -infinity before.
struct SideMove {
    const uint8_t* side;
    double move[2];
};
void move_by_sides(const SideMove& below, const SideMove& pivot, double name, std::size_t count, double* moved,
                   double* scores, double* top, double* best);

/// The gradient of GLL with respect to f, (M-1, n), and with `newton` the mean curvature (else the norm), of `count`
/// rows.
struct GllRows {
    const double* terms;  // (M, stride): C_zj e^{S_j}, 1 in place of C_zz
    std::size_t stride;
    const int32_t* target;
    const double* weight;
    int classes;
    bool newton;
};
/// `sizes` (M): raised to the largest size of each coordinate of the gradient, and of the curvature.
void gll_gradient(const GllRows& rows, const double* scales, std::size_t count, double* gradient, double* curvature,
                  double* sizes);

/// scores (class-major, `stride` apart) += the moves of the side each row is on, and the largest_scores then.
void add_two(const double* moves, const uint8_t* side, std::size_t stride, int classes, std::size_t count,
             double* scores, double* top, double* best);

/// The sum of at most 1024 values in [0, 1024), without rounding, as two numbers; before, the values are rounded to
/// multiples of 2^-64 (none but those below 2^-11 change).
struct ValueSums {
    double whole, rest;
};
ValueSums sum_values(std::size_t count, double* values);

/// out = log(x), x > 0.
void logarithms(const double* x, std::size_t count, double* out);

}  // namespace permissible::mcboost
