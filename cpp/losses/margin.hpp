// The built-in losses as the compiled loop sees them: one small functor each, the margin x of an example kept as a
// `state`. A functor gives w = -psi'(x), k = -w' and t = k' of the state, psi = bF (mathematics.md sections 2 and 3),
// and moves a state by a step v. `attained` says that some finite margin has weight 0, so that a finite minimiser
// always exists. Losses that differ by a scale only (mu-Matsushita) share a functor; the scale lives with the caller.
// Every operation is a plain IEEE one, so a row gets the same bits at any position in a vector.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "common/lanes.hpp"
#include "losses/table.hpp"

namespace permissible::rules {

template <class V>
struct Derivatives {
    V weight;     // w(x)
    V curvature;  // k(x) = -w'(x) >= 0
    V slope;      // t(x) = k'(x)
};

/// psi = ln(1 + e^-x). The state is e^x, so a step is one product and no exponential is taken per row.
struct Logistic {
    static constexpr bool in_lanes = true;  // four rows at a time
    static constexpr bool smooth = true;
    static constexpr double remainder = 8.6e-5;  // sup |w^(9)| / (9! k), at 0
    static constexpr bool rising = true;         // the state grows with the margin
    static constexpr bool attained = false;
    static constexpr double cap = 40.0;  // beyond this step a weight is below 1e-17: the column is one-signed
    static double state_of(double margin) { return std::exp(std::clamp(margin, -640.0, 640.0)); }
    double factor(double step) const { return std::exp(step); }
    template <class V>
    PERMISSIBLE_INLINE V moved(V state, V factor) const {  // ends of the range, where w is 0 or 1 anyway
        return smaller(larger(state * factor, Lanes<V>::all(1e-280)), Lanes<V>::all(1e280));
    }
    template <class V>
    PERMISSIBLE_INLINE Derivatives<V> at(V state) const {
        const V w = 1.0 / (1.0 + state);
        const V k = w * (1.0 - w);
        return {w, k, k * (2.0 * w - 1.0)};
    }
    template <class V>
    PERMISSIBLE_INLINE V value(V state) const {
        return value(state, at(state));
    }
    /// The same from the weight, one division less: 1 - w = state * w.
    template <class V>
    PERMISSIBLE_INLINE V value(V state, const Derivatives<V>& d) const {
        return -fast_log(smaller(state * d.weight, Lanes<V>::all(1.0)));
    }
    double largest_curvature(double low, double high) const {
        if (low <= 1.0 && high >= 1.0) return 0.25;
        return std::max(at(low).curvature, at(high).curvature);
    }
};

/// What the losses share whose state is the margin itself: a step is added.
struct MarginState {
    static constexpr bool rising = true;
    static double state_of(double margin) { return margin; }
    double factor(double step) const { return step; }
    template <class V>
    PERMISSIBLE_INLINE V moved(V state, V factor) const {
        return state + factor;
    }
};

/// psi = (sqrt(1 + x^2) - x) / 2. Only a square root; the tail is evaluated without cancellation.
struct Matsushita : MarginState {
    static constexpr bool in_lanes = true;  // four rows at a time
    static constexpr bool smooth = true;
    static constexpr double remainder = 0.2735;
    static constexpr bool attained = false;
    static constexpr double cap = 1e4;
    template <class V>
    PERMISSIBLE_INLINE Derivatives<V> at(V x) const {
        const V r2 = 1.0 + x * x;
        const V r = root(r2);
        const V small = 0.5 / (r * (r + magnitude(x)));
        const V w = select(below(Lanes<V>::all(0.0), x), small, 1.0 - small);
        const V k = 0.5 / (r2 * r);
        return {w, k, -3.0 * x * k / r2};
    }
    template <class V>
    PERMISSIBLE_INLINE V value(V x) const {
        const V r = root(1.0 + x * x);
        return select(below(Lanes<V>::all(0.0), x), 0.5 / (r + x), 0.5 * (r - x));
    }
    double largest_curvature(double low, double high) const {
        if (low <= 0.0 && high >= 0.0) return 0.5;
        return std::max(at(low).curvature, at(high).curvature);
    }
};

/// The extended Gini loss: psi = (1 - x)^2 / 4 on [-1, 1], 0 to the right, -x to the left (mathematics.md 4.2 ii).
struct Squared : MarginState {
    static constexpr bool in_lanes = true;  // four rows at a time
    static constexpr bool smooth = false;
    static constexpr bool attained = true;
    static constexpr double cap = 1e8;
    template <class V>
    PERMISSIBLE_INLINE Derivatives<V> at(V x) const {
        const V zero = Lanes<V>::all(0.0), one = Lanes<V>::all(1.0);
        const V inside = select(below(magnitude(x), one), Lanes<V>::all(0.5), zero);
        return {smaller(larger(0.5 * (1.0 - x), zero), one), inside, zero};
    }
    template <class V>
    PERMISSIBLE_INLINE V value(V x) const {
        const V one = Lanes<V>::all(1.0);
        const V left = select(below(x, -one), -x, 0.25 * (1.0 - x) * (1.0 - x));
        return select(below(x, one), left, Lanes<V>::all(0.0));
    }
    double largest_curvature(double, double) const { return 0.5; }
};

/// psi = (1 - x)^2 everywhere: ordinary least squares; weights of examples beyond 1 are negative.
struct LeastSquares : MarginState {
    static constexpr bool in_lanes = true;  // four rows at a time
    static constexpr bool smooth = true;
    static constexpr double remainder = 0.0;
    static constexpr bool attained = true;
    static constexpr double cap = 1e8;
    template <class V>
    PERMISSIBLE_INLINE Derivatives<V> at(V x) const {
        return {2.0 * (1.0 - x), Lanes<V>::all(2.0), Lanes<V>::all(0.0)};
    }
    template <class V>
    PERMISSIBLE_INLINE V value(V x) const {
        return (1.0 - x) * (1.0 - x);
    }
    double largest_curvature(double, double) const { return 2.0; }
};

/// psi = e^-x. The state is e^-x, which is also the weight.
struct Exponential {
    static constexpr bool in_lanes = true;  // four rows at a time
    static constexpr bool smooth = true;
    static constexpr double remainder = 1.0 / 362880.0;
    static constexpr bool rising = false;  // the state falls as the margin grows
    static constexpr bool attained = false;
    static constexpr double cap = 40.0;
    static double state_of(double margin) { return std::exp(std::clamp(-margin, -640.0, 640.0)); }
    double factor(double step) const { return std::exp(-step); }
    template <class V>
    PERMISSIBLE_INLINE V moved(V state, V factor) const {
        return smaller(larger(state * factor, Lanes<V>::all(1e-280)), Lanes<V>::all(1e280));
    }
    template <class V>
    PERMISSIBLE_INLINE Derivatives<V> at(V state) const {
        return {state, state, -state};
    }
    template <class V>
    PERMISSIBLE_INLINE V value(V state) const {
        return state;
    }
    double largest_curvature(double low, double) const { return low; }
};

/// The log-cosh family of (24) of [T], corrected: w = 1/2 - (2/z) artanh(x) for |x| < tanh(z/4), clipped outside.
struct LogCosh : MarginState {
    static constexpr double kSteepest = 1e8;  // a bend narrower than this is a kink to scores in double precision
    double zeta = 1.0;                        // |zeta|
    static constexpr bool in_lanes = false;   // four rows at a time
    static constexpr bool smooth = false;
    static constexpr bool attained = true;
    static constexpr double cap = 1e8;
    double limit() const { return std::tanh(0.25 * zeta); }
    Derivatives<double> at(double x) const {
        if (x >= limit()) return {0.0, 0.0, 0.0};
        if (x <= -limit()) return {1.0, 0.0, 0.0};
        const double rest = (1.0 - x) * (1.0 + x);
        const double k = std::min(2.0 / (zeta * rest), kSteepest);
        return {std::clamp(0.5 - 2.0 / zeta * std::atanh(x), 0.0, 1.0), k, 2.0 * x * k / rest};
    }
    double value(double x) const {
        if (x >= limit()) return 0.0;
        if (x <= -limit()) return -x;
        const double half = 0.25 * zeta;
        const double log_cosh = half + std::log1p(std::exp(-2.0 * half)) - std::log(2.0);
        return -0.5 * x + 2.0 / zeta * (x * std::atanh(x) + 0.5 * std::log1p(-x * x) + log_cosh);
    }
    double largest_curvature(double, double) const {
        const double edge = limit();
        return std::min(2.0 / (zeta * std::max((1.0 - edge) * (1.0 + edge), 1e-300)), kSteepest);
    }
};

/// phi = (p(1-p))^u: the weight is the root of u (pq)^(u-1) (1-2p) = |x|, found by Newton on ln p from the tail's side.
struct Power : MarginState {
    double exponent = 0.5;                   // upsilon
    static constexpr bool in_lanes = false;  // four rows at a time
    static constexpr bool smooth = false;    // no third derivative here: plain Newton, run to a vanishing step
    static constexpr bool attained = false;
    static constexpr double cap = 1e4;
    double tail(double t) const {  // p <= 1/2 with g(p) = -t
        if (t == 0.0) return 0.5;
        const double u = exponent;
        double high = std::log(std::min(0.5, std::pow(u / t, 1.0 / (1.0 - u))));
        double low = std::log(std::min(0.25, std::pow(0.5 * u / t, 1.0 / (1.0 - u))));
        double z = high;
        for (int round = 0; round < 100; ++round) {
            const double p = std::exp(z), pq = p * (1.0 - p);
            const double power = u * std::pow(pq, u - 1.0);
            const double excess = power * (1.0 - 2.0 * p) - t;
            (excess > 0.0 ? low : high) = z;
            const double derivative = -power / (1.0 - p) * ((1.0 - u) + (4.0 * u - 2.0) * pq);
            double next = z - excess / derivative;
            if (!(next >= low && next <= high)) next = 0.5 * (low + high);
            const double step = std::fabs(next - z);
            z = next;
            if (step <= 1e-14 * std::fabs(z)) break;  // Newton's next step is its square: below the last bit
        }
        return std::exp(z);
    }
    Derivatives<double> at(double x) const {
        const double p = tail(std::fabs(x)), pq = p * (1.0 - p), u = exponent;
        const double k = std::pow(pq, 2.0 - u) / (u * ((1.0 - u) + (4.0 * u - 2.0) * pq));
        return {x > 0.0 ? p : 1.0 - p, k, 0.0};
    }
    double value(double x) const {
        const double p = tail(std::fabs(x)), u = exponent;
        const double side = std::pow(1.0 - p, u - 1.0) * std::pow(p, u) * ((1.0 - u) + (2.0 * u - 1.0) * p);
        return x > 0.0 ? side : side - x;
    }
    double largest_curvature(double, double) const { return at(0.0).curvature; }
};

/// The loss of a user's own phi, by its table (permissible/losses/own/tabulation.py).
struct Tabulated : MarginState {
    std::shared_ptr<const LossTable> table;
    double cap = 0.0;
    bool attained = false;
    static constexpr bool in_lanes = true;  // each row looks up its own cell, the arithmetic is in lanes
    static constexpr bool smooth = false;   // a table may have kinks: no bound on the third derivative
    static constexpr double kPerPower[] = {1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0, 1.0 / 6.0};
    template <class V>
    PERMISSIBLE_INLINE Derivatives<V> at(V x) const {
        const V zero = Lanes<V>::all(0.0), one = Lanes<V>::all(1.0), size = magnitude(x);
        const Cells<V> cells(*table, size);
        V p = zero, first = zero;
        for (int k = LossTable::kDegree; k >= 0; --k) {
            first = first * cells.y + p;
            p = p * cells.y + cells.weight[k];
        }
        // The slope only steers Halley's method: the leading terms do, and no more than the curvature, whose grid it
        // shares.
        const V second = 2.0 * cells.weight[2] + cells.y * (6.0 * cells.weight[3] + cells.y * (12.0 * cells.weight[4]));
        const auto inside = below(size, Lanes<V>::all(table->end())), left = below(x, zero);
        const V tail = select(inside, smaller(larger(p, zero), Lanes<V>::all(0.5)), zero);
        const V steep = smaller(larger(-first * cells.per_half, zero), Lanes<V>::all(table->largest_curvature()));
        const V curvature = select(inside, steep, zero);
        const V slope = smaller(larger(second * cells.per_half * cells.per_half, -curvature), curvature);
        return {select(left, one - tail, tail), curvature, select(left, slope, -slope)};
    }
    template <class V>
    PERMISSIBLE_INLINE V value(V x) const {
        const V zero = Lanes<V>::all(0.0), size = magnitude(x);
        const Cells<V> cells(*table, size);
        V area = zero;
        for (int k = LossTable::kDegree; k >= 0; --k) area = area * cells.y + cells.weight[k] * kPerPower[k];
        const V found = larger(cells.value - cells.y * area / cells.per_half, zero);
        return select(below(size, Lanes<V>::all(table->end())), found, zero) + select(below(x, zero), size, zero);
    }
    double largest_curvature(double low, double high) const {
        return table->largest_curvature(std::max(std::fabs(low), std::fabs(high)));
    }

  private:
    /// The cells of some margins, and the places of the margins in them.
    template <class V>
    struct Cells {
        static_assert(LossTable::kDegree == 5, "a cell is two packs of four numbers");
        V weight[LossTable::kDegree + 1], per_half, value, y;
        PERMISSIBLE_INLINE Cells(const LossTable& table, V size) {
            constexpr std::size_t n = Lanes<V>::count;
            double sizes[n], values[n];
            Lanes<V>::store(sizes, size);
            const LossTable::Cell* cells[n];
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t at = table.cell_of(sizes[i]);
                cells[i] = &table[at], values[i] = table.value(at);
            }
            V centre;
            if constexpr (n == 4) {  // each cell is loaded in two packs, and these are transposed
                transpose(cells, 0, weight[0], weight[1], weight[2], weight[3]);
                transpose(cells, 4, weight[4], weight[5], centre, per_half);
            } else {
                const auto gathered = [&](auto part) {
                    double found[n];
                    for (std::size_t i = 0; i < n; ++i) found[i] = part(*cells[i]);
                    return Lanes<V>::load(found);
                };
                for (int k = 0; k <= LossTable::kDegree; ++k)
                    weight[k] = gathered([k](const LossTable::Cell& cell) { return cell.weight[k]; });
                centre = gathered([](const LossTable::Cell& cell) { return cell.centre; });
                per_half = gathered([](const LossTable::Cell& cell) { return cell.per_half; });
            }
            value = Lanes<V>::load(values);
            const V place = (size - centre) * per_half;
            y = smaller(larger(place, Lanes<V>::all(-1.0)), Lanes<V>::all(1.0));
        }
        static PERMISSIBLE_INLINE void transpose(const LossTable::Cell* const* cells, std::size_t from, V& a, V& b,
                                                 V& c, V& d) {
            V row[4];
            for (int i = 0; i < 4; ++i) row[i] = Lanes<V>::load(reinterpret_cast<const double*>(cells[i]) + from);
            const V ac01 = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
            const V bd01 = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
            const V ac23 = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
            const V bd23 = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
            a = __builtin_shufflevector(ac01, ac23, 0, 1, 4, 5), c = __builtin_shufflevector(ac01, ac23, 2, 3, 6, 7);
            b = __builtin_shufflevector(bd01, bd23, 0, 1, 4, 5), d = __builtin_shufflevector(bd01, bd23, 2, 3, 6, 7);
        }
    };
};

/// psi of a state whose derivatives are known, if they save work.
template <class Loss, class V>
PERMISSIBLE_INLINE V value_of(const Loss& loss, V state, const Derivatives<V>& d) {
    if constexpr (requires { loss.value(state, d); }) {
        return loss.value(state, d);
    } else {
        return loss.value(state);
    }
}

}  // namespace permissible::rules
