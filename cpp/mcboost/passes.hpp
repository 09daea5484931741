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
void weigh_by_class(const double* table, const int32_t* target, int classes, std::size_t count, double* term,
                    double* tail, double* total);
void weigh_by_row(const double* costs, std::size_t count, double* term, double* tail, double* total);

/// own = scores where the row's class is `cls`.
void pick_own(const double* scores, const int32_t* target, int32_t cls, std::size_t count, double* own);

/// The step of two values along a coordinate: low and pivot terms of the next coordinate, and the move itself.
struct TwoMoves {
    double up[2], down[2], move[2];
};
void advance_low(const TwoMoves& moves, const uint8_t* side, std::size_t count, double* low, double* pivot);

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
void gll_gradient(const GllRows& rows, const double* scales, std::size_t count, double* gradient, double* curvature);

/// scores (class-major, `stride` apart) += the moves of the side each row is on.
void add_two(const double* moves, const uint8_t* side, std::size_t stride, int classes, std::size_t count,
             double* scores);

/// out = log(x), x > 0.
void logarithms(const double* x, std::size_t count, double* out);

}  // namespace permissible::mcboost
