// See passes.hpp. Every row gets the same arithmetic at any position: no fused operations, no vector libraries.
#include "mcboost/passes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "common/lanes.hpp"
#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

// Integers compare as the non-negative doubles they are.
inline int64_t size_bits(double x) { return std::bit_cast<int64_t>(x) & 0x7FFFFFFFFFFFFFFF; }

inline void raise_to(int64_t bits, double& largest) {
    const double size = std::bit_cast<double>(bits);
    largest = size > largest ? size : largest;
}

}  // namespace

PERMISSIBLE_WIDE_CLONES void largest_scores(const double* scores, std::size_t stride, int classes, std::size_t count,
                                            double* top, double* best) {
    for (std::size_t i = 0; i < count; ++i) top[i] = scores[i];
    for (std::size_t i = 0; i < count; ++i) best[i] = 0;
    for (int j = 1; j < classes; ++j) {
        const double* s = scores + j * stride;
        const double name = j;
        for (std::size_t i = 0; i < count; ++i) {
            best[i] = s[i] > top[i] ? name : best[i];
            top[i] = s[i] > top[i] ? s[i] : top[i];
        }
    }
}

PERMISSIBLE_WIDE_CLONES void raised_scores(const double* scores, const double* top, std::size_t count, double limit,
                                           double* e) {
    if (top) {
        for (std::size_t i = 0; i < count; ++i) {
            const double x = scores[i] - top[i];  // never positive
            e[i] = vexp(x < -limit ? -limit : x);
        }
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            const double x = scores[i] < -limit ? -limit : scores[i];
            e[i] = vexp(x > limit ? limit : x);
        }
    }
}

PERMISSIBLE_WIDE_CLONES void multiply_by_class(const double* table, const int32_t* target, int classes,
                                               std::size_t count, double* term, double* tail, double* total) {
    for (std::size_t i = 0; i < count; ++i) {
        const double weighted = table[target[i] * classes] * term[i];
        tail[i] = total[i];
        term[i] = weighted;
        total[i] += weighted;
    }
}

PERMISSIBLE_WIDE_CLONES void advance_low(const TwoMoves& moves, const uint8_t* side, std::size_t count,
                                         double* __restrict low, const double* pivot) {
    const double up0 = moves.up[0], up1 = moves.up[1], down0 = moves.down[0], down1 = moves.down[1];
    for (std::size_t i = 0; i < count; ++i) {
        const bool left = side[i] != 0;
        low[i] = (left ? up1 : up0) * low[i] + (left ? down1 : down0) * pivot[i];
    }
}

PERMISSIBLE_WIDE_CLONES void multiply_by_row(const double* costs, std::size_t count, double* term, double* tail,
                                             double* total) {
    if (!costs) {
        for (std::size_t i = 0; i < count; ++i) {
            tail[i] = total[i];
            total[i] += term[i];
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const double weighted = costs[i] * term[i];
        tail[i] = total[i];
        term[i] = weighted;
        total[i] += weighted;
    }
}

PERMISSIBLE_WIDE_CLONES void gll_gradient(const GllRows& rows, const double* scales, std::size_t count,
                                          double* gradient, double* curvature, double* sizes) {
    constexpr std::size_t kMost = 1024;
    double sum[kMost], others[kMost], prefix[kMost], squares[kMost];
    const double m = rows.classes, apart = m / (4.0 * (m - 1.0) * (m - 1.0));
    const int32_t* target = rows.target;
    const double* weight = rows.weight;
    for (std::size_t i = 0; i < count; ++i) sum[i] = others[i] = prefix[i] = squares[i] = 0.0;
    for (int j = 0; j < rows.classes; ++j) {
        const double* term = rows.terms + j * rows.stride;
        for (std::size_t i = 0; i < count; ++i) {
            sum[i] += term[i];
            others[i] += target[i] == j ? 0.0 : term[i];
            squares[i] += term[i] * term[i];
        }
    }
    for (std::size_t i = 0; i < count; ++i) sum[i] = 1.0 / sum[i];
    if (rows.newton)
        for (std::size_t i = 0; i < count; ++i) {
            const double impurity = 1.0 - squares[i] * sum[i] * sum[i];
            curvature[i] = weight[i] * apart * (impurity > 0.0 ? impurity : 0.0);
        }
    else
        for (std::size_t i = 0; i < count; ++i) curvature[i] = 0.0;
    for (int j = 0; j < rows.classes; ++j) {
        const double* term = rows.terms + j * rows.stride;
        double* out = gradient + (j - 1) * static_cast<std::ptrdiff_t>(rows.stride);
        const double c = j > 0 ? scales[j - 1] : 0.0, k = j;
        int64_t largest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double slope = (target[i] == j ? -others[i] : term[i]) * sum[i];
            if (j > 0) {
                const double value = weight[i] * c * (prefix[i] - k * slope);
                const int64_t size = size_bits(value);
                out[i] = value;
                largest = size > largest ? size : largest;
                if (!rows.newton) curvature[i] += value * value;
            }
            prefix[i] += slope;
        }
        if (j > 0) raise_to(largest, sizes[j - 1]);
    }
    if (!rows.newton)
        for (std::size_t i = 0; i < count; ++i) curvature[i] = __builtin_sqrt(curvature[i]);
    int64_t sharpest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int64_t size = size_bits(curvature[i]);
        sharpest = size > sharpest ? size : sharpest;
    }
    raise_to(sharpest, sizes[rows.classes - 1]);
}

PERMISSIBLE_WIDE_CLONES void add_two(const double* moves, const uint8_t* side, std::size_t stride, int classes,
                                     std::size_t count, double* __restrict scores, double* __restrict top,
                                     double* __restrict best) {
    for (std::size_t i = 0; i < count; ++i) top[i] = -std::numeric_limits<double>::infinity();
    for (int j = 0; j < classes; ++j) {
        const double right = moves[2 * j], left = moves[2 * j + 1], name = j;
        double* out = scores + j * stride;
        for (std::size_t i = 0; i < count; ++i) {
            const double score = out[i] + (side[i] != 0 ? left : right);
            out[i] = score;
            best[i] = score > top[i] ? name : best[i];
            top[i] = score > top[i] ? score : top[i];
        }
    }
}

PERMISSIBLE_WIDE_CLONES void move_by_sides(const SideMove& below, const SideMove& pivot, double name, std::size_t count,
                                           double* __restrict moved, double* __restrict scores, double* __restrict top,
                                           double* __restrict best) {
    const SideMove from = below, own = pivot;  // copies, which no store can change
    by_lanes<V8>(count, [=]<class V>(V, std::size_t i) __attribute__((always_inline)) {
        using L = Lanes<V>;
        const auto is_below = L::flags(from.side + i), is_pivot = L::flags(own.side + i);
        const V so_far = L::load(moved + i) + (is_below ? all<V>(from.move[1]) : all<V>(from.move[0]));
        const V score = L::load(scores + i) + (so_far + (is_pivot ? all<V>(own.move[1]) : all<V>(own.move[0])));
        const V leader = L::load(top + i);
        L::store(moved + i, so_far);
        L::store(scores + i, score);
        L::store(best + i, score >= leader ? all<V>(name) : L::load(best + i));  // from the last class to the first
        L::store(top + i, score >= leader ? score : leader);
    });
}

PERMISSIBLE_WIDE_CLONES void raise_plainly(const double* scores, const double* top, const double* term_above,
                                           const double* tail_above, double limit, std::size_t count,
                                           double* __restrict term, double* __restrict tail) {
    for (std::size_t i = 0; i < count; ++i) {
        const double x = scores[i] - top[i];
        tail[i] = tail_above[i] + term_above[i];
        term[i] = vexp_within(x < -limit ? -limit : x);  // never positive
    }
}

PERMISSIBLE_WIDE_CLONES ValueSums sum_values(std::size_t count, double* __restrict values) {
    constexpr double kWhole = 0x1p20, kRest = 0x1p64;
    int64_t whole = 0, rest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double x = values[i], high = x * kWhole + kMagic;
        const double part = (high - kMagic) * (1 / kWhole), low = (x - part) * kRest + kMagic;
        whole += std::bit_cast<int64_t>(high) - kMagicBits;
        rest += std::bit_cast<int64_t>(low) - kMagicBits;
        values[i] = part + (low - kMagic) * (1 / kRest);
    }
    return {static_cast<double>(whole) * (1 / kWhole), static_cast<double>(rest) * (1 / kRest)};
}

namespace {

/// What some rows add: their slopes and curvatures along a coordinate, weighted.
struct CoordinateRows {
    const GllCoordinate at;  // a copy of its own, which no store can change
    double *gradient, *curvature;
    I8 largest{}, sharpest{};
    int64_t largest_alone = 0, sharpest_alone = 0;

    PERMISSIBLE_INLINE void raise(I8 size, I8 sharp) {
        largest = size > largest ? size : largest;
        sharpest = sharp > sharpest ? sharp : sharpest;
    }
    PERMISSIBLE_INLINE void raise(int64_t size, int64_t sharp) {
        largest_alone = size > largest_alone ? size : largest_alone;
        sharpest_alone = sharp > sharpest_alone ? sharp : sharpest_alone;
    }

    template <class V>
    PERMISSIBLE_INLINE void write(std::size_t i, V a) {
        using L = Lanes<V>;
        const auto z = L::ints(at.target + i);
        const V b = L::load(at.pivot + i), h = L::load(at.high + i), c = all<V>(at.c), kc = all<V>(at.kc);
        const V rate = z < at.pivot_class ? c : (z == at.pivot_class ? -kc : V{});
        const V ra = c - rate, rb = -kc - rate, rh = -rate;
        const V inverse = 1.0 / (a + b + h);
        const V mean = (ra * a + rb * b + rh * h) * inverse;
        const V second = (ra * ra * a + rb * rb * b + rh * rh * h) * inverse - mean * mean;
        const V w = at.weight ? L::load(at.weight + i) : all<V>(1.0);
        const V slope = w * mean, bend = w * second;
        L::store(gradient + i, slope);
        L::store(curvature + i, bend);
        constexpr int64_t kSize = 0x7FFFFFFFFFFFFFFF;
        raise(std::bit_cast<typename L::Ints>(slope) & kSize, std::bit_cast<typename L::Ints>(bend) & kSize);
    }

    PERMISSIBLE_INLINE Sizes sizes() const {
        return {std::bit_cast<double>(std::max(greatest(largest), largest_alone)),
                std::bit_cast<double>(std::max(greatest(sharpest), sharpest_alone))};
    }
};

}  // namespace

PERMISSIBLE_WIDE_CLONES Sizes gll_coordinate(const GllCoordinate& rows, std::size_t count, double* __restrict gradient,
                                             double* __restrict curvature) {
    CoordinateRows out{rows, gradient, curvature};
    by_lanes<V8>(count, [&]<class V>(V, std::size_t i)
                            __attribute__((always_inline)) { out.write<V>(i, Lanes<V>::load(rows.low + i)); });
    return out.sizes();
}

PERMISSIBLE_WIDE_CLONES Sizes gll_advance(const TwoMoves& moves, const uint8_t* side, const double* before,
                                          const GllCoordinate& rows, std::size_t count, double* __restrict low,
                                          double* __restrict gradient, double* __restrict curvature) {
    CoordinateRows out{rows, gradient, curvature};
    const double up0 = moves.up[0], up1 = moves.up[1], down0 = moves.down[0], down1 = moves.down[1];
    by_lanes<V8>(count, [&]<class V>(V, std::size_t i) __attribute__((always_inline)) {
        using L = Lanes<V>;
        const auto left = L::flags(side + i);
        const V sum = (left ? all<V>(up1) : all<V>(up0)) * L::load(low + i) +
                      (left ? all<V>(down1) : all<V>(down0)) * L::load(before + i);
        L::store(low + i, sum);
        out.write<V>(i, sum);
    });
    return out.sizes();
}

PERMISSIBLE_WIDE_CLONES void add_moves(const double* next, double below, const double* pivot, double own,
                                       std::size_t count, double* __restrict moved, double* __restrict scores) {
    if (next && pivot)
        for (std::size_t i = 0; i < count; ++i) {
            const double so_far = moved[i] + below * next[i];
            moved[i] = so_far;
            scores[i] += so_far + own * pivot[i];
        }
    else if (next)
        for (std::size_t i = 0; i < count; ++i) {
            const double so_far = moved[i] + below * next[i];
            moved[i] = so_far;
            scores[i] += so_far + 0.0;
        }
    else
        for (std::size_t i = 0; i < count; ++i) scores[i] += moved[i] + own * pivot[i];
}

PERMISSIBLE_WIDE_CLONES void logarithms(const double* x, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = fast_log(x[i]);
}

}  // namespace permissible::mcboost
