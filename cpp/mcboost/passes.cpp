// See passes.hpp. Every row gets the same arithmetic at any position: no fused operations, no vector libraries.
#include "mcboost/passes.hpp"

#include <bit>

#include "common/lanes.hpp"
#include "common/parallel.hpp"

namespace permissible::mcboost {

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
                                          double* gradient, double* norm) {
    constexpr std::size_t kMost = 1024;
    double sum[kMost], others[kMost], prefix[kMost];
    const int32_t* target = rows.target;
    const double* weight = rows.weight;
    for (std::size_t i = 0; i < count; ++i) sum[i] = others[i] = prefix[i] = norm[i] = 0.0;
    for (int j = 0; j < rows.classes; ++j) {
        const double* term = rows.terms + j * rows.stride;
        for (std::size_t i = 0; i < count; ++i) {
            sum[i] += term[i];
            others[i] += target[i] == j ? 0.0 : term[i];
        }
    }
    for (std::size_t i = 0; i < count; ++i) sum[i] = 1.0 / sum[i];
    for (int j = 0; j < rows.classes; ++j) {
        const double* term = rows.terms + j * rows.stride;
        double* out = gradient + (j - 1) * static_cast<std::ptrdiff_t>(rows.stride);
        const double c = j > 0 ? scales[j - 1] : 0.0, k = j;
        for (std::size_t i = 0; i < count; ++i) {
            const double slope = (target[i] == j ? -others[i] : term[i]) * sum[i];
            if (j > 0) {
                const double value = weight[i] * c * (prefix[i] - k * slope);
                out[i] = value;
                norm[i] += value * value;
            }
            prefix[i] += slope;
        }
    }
    for (std::size_t i = 0; i < count; ++i) norm[i] = __builtin_sqrt(norm[i]);
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

PERMISSIBLE_WIDE_CLONES void gll_coordinate(const GllCoordinate& rows, std::size_t count, double* __restrict gradient,
                                            double* __restrict curvature) {
    const GllCoordinate at = rows;  // a copy, which no store can change
    by_lanes<V8>(count, [=]<class V>(V, std::size_t i) __attribute__((always_inline)) {
        using L = Lanes<V>;
        const auto z = L::ints(at.target + i);
        const V a = L::load(at.low + i), b = L::load(at.pivot + i), h = L::load(at.high + i);
        const V c = all<V>(at.c), kc = all<V>(at.kc);
        const V rate = z < at.pivot_class ? c : (z == at.pivot_class ? -kc : V{});
        const V ra = c - rate, rb = -kc - rate, rh = -rate;
        const V inverse = 1.0 / (a + b + h);
        const V mean = (ra * a + rb * b + rh * h) * inverse;
        const V second = (ra * ra * a + rb * rb * b + rh * rh * h) * inverse - mean * mean;
        const V w = at.weight ? L::load(at.weight + i) : all<V>(1.0);
        L::store(gradient + i, w * mean);
        L::store(curvature + i, w * second);
    });
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
