// The five losses of [B] along one coordinate of the simplex, row by row.
//
// With Helmert codewords a step t along coordinate r moves the scores of the classes below the pivot k = r + 1 by c t,
// that of the pivot by -k c t, and no other. So of the sum N = sum_j C_zj e^{S_j} only three parts matter: `low` (j <
// k), `pivot` and `high` (j > k), and N(t) = low e^{ct} + pivot e^{-kct} + high. L_t needs the same three parts of D =
// sum_j e^{-S_j} too.
#pragma once

namespace permissible::mcboost {

enum class Loss : int { gll = 0, gel = 1, ls = 2, lt = 3, mc = 4 };

/// The three parts of N (and of D for L_t) of one row; `scale` is e^{-S_z} for GEL and MC; `rate_z` is dS_z/dt.
struct Parts {
    double low, pivot, high, low_inverse, pivot_inverse, high_inverse, scale, rate_z;
};

struct Slopes {
    double first, second;
};

/// How the scores move with t: c below the pivot, -kc at it; e^{ct} and e^{-kct} for this row's t.
struct Move {
    double c, kc, up, down;
};

inline double factor_of_true_class(const Parts& row, const Move& move) {  // e^{-rate_z t}
    return row.rate_z > 0 ? 1.0 / move.up : (row.rate_z < 0 ? 1.0 / move.down : 1.0);
}

/// First and second derivative of the loss of one row with respect to t (equations 34 to 37, corrected).
template <Loss L>
inline Slopes slopes(const Parts& row, const Move& move) {
    const double a = move.up * row.low, b = move.down * row.pivot;
    // Rates relative to that of the true class: the loss of a row with a large margin keeps its digits.
    const double ra = move.c - row.rate_z, rb = -move.kc - row.rate_z, rh = -row.rate_z;
    if constexpr (L == Loss::gll) {  // log(1 + N/E_z) with C_zz = 1 inside the sum: log N - S_z
        const double inverse = 1.0 / (a + b + row.high);
        const double mean = (ra * a + rb * b + rh * row.high) * inverse;
        return {mean, (ra * ra * a + rb * rb * b + rh * rh * row.high) * inverse - mean * mean};
    } else if constexpr (L == Loss::gel || L == Loss::mc) {
        const double s = row.scale * factor_of_true_class(row, move);
        return {s * (ra * a + rb * b + rh * row.high), s * (ra * ra * a + rb * rb * b + rh * rh * row.high)};
    } else if constexpr (L == Loss::ls) {
        return {move.c * a - move.kc * b, move.c * move.c * a + move.kc * move.kc * b};
    } else {
        // Pairs of parts that move apart: terms of the same part cancel, and rounding errors would exceed the
        // loss of a row with a large margin.
        const double ia = row.low_inverse / move.up, ib = row.pivot_inverse / move.down, ih = row.high_inverse;
        const double both = move.c + move.kc, h = row.high;
        const double first = both * (a * ib - b * ia) + move.c * (a * ih - h * ia) + move.kc * (h * ib - b * ih);
        const double second = both * both * (a * ib + b * ia) + move.c * move.c * (a * ih + h * ia) +
                              move.kc * move.kc * (h * ib + b * ih);
        return {first, second};
    }
}

/// dS_z/dt of a row of class z along the coordinate with this pivot.
inline double rate_of(int z, int pivot, double c, double kc) { return z < pivot ? c : (z == pivot ? -kc : 0.0); }

/// Calls `work` with the loss as a compile-time constant.
template <typename Work>
decltype(auto) with_loss(Loss loss, Work&& work) {
    switch (loss) {
        case Loss::gel: return work.template operator()<Loss::gel>();
        case Loss::ls: return work.template operator()<Loss::ls>();
        case Loss::lt: return work.template operator()<Loss::lt>();
        case Loss::mc: return work.template operator()<Loss::mc>();
        default: return work.template operator()<Loss::gll>();
    }
}

}  // namespace permissible::mcboost
