// The leveraging step: the root of the surrogate's derivative along a rule, (35) of [T]. Derivatives come from passes
// over the rows; this file has only the scalar iteration, so that the compiled and the readable loop take the same
// steps.
//
// f(v) = sum of y w at step v, minus l2 v, falls in v. The first pass over rows of a smooth loss asks f, f' and f'' at
// the guess and at two longer steps, since a guess from sums at step 0 is mostly too short. They determine a polynomial
// of degree 8 (Hermite interpolation). Its root r differs from that of f by at most
//
//   R |(r - v0)(r - v1)(r - v2)|^3 e^(3 s / 2),     R = sup |w^(9)| / (9! k),
//
// as the remainder of the interpolation is f^(9) over 9! times that product, and k changes by at most the factor
// e^(3/2) a unit of length; s is the distance between the farthest of the four points. Where that is above 1e-11,
// absolute and relative to the step, another pass at r follows, and then Halley's method, guarded by a bracket: its
// step D leaves an error below 1.1 |D|^3 (mathematics.md 4; the third derivatives are bounded by the curvature).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace permissible::rules {

/// f, f' and f'' at a trial step.
struct Slopes {
    double f = 0.0, first = 0.0, second = 0.0;

    /// Of f(v) - g(-v), the derivative along a rule that takes opposite values on its sides.
    Slopes less_mirrored(const Slopes& g) const { return {f - g.f, first + g.first, second - g.second}; }
};

struct Root {
    double value = 0.0;
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    int passes = 0;
    bool done = false;
    bool capped = false;  // ran into the cap: no finite minimiser (a one-signed column)
    bool faded = false;   // neither f nor f' is left

    /// The trial steps of the next pass. In the first one, where the loss has a bound of the remainder, the guess and
    /// steps of up to 1.3 times its length.
    std::vector<double> trials(double remainder) const {
        if (passes > 0 || !(remainder >= 0.0)) return {value};
        const double half = std::copysign(std::max(0.15 * std::fabs(value), 0.02), value);
        return {value, value + half, value + 2.0 * half};
    }

    /// Back to the previous trial if all terms of the last one are below the grid, which a long step made coarse. For
    /// losses whose weights are never 0.
    void retreat() {
        const double before = value > 0.0 ? low : high;
        if (faded && std::isfinite(before)) value = before;
    }

    /// One step, from f, f', f'' at the trials.
    void advance(const std::vector<Slopes>& at, double remainder, double cap) {
        if (at.size() > 1 && !done) return interpolate(at, remainder, cap);
        advance(at[0].f, at[0].first, at[0].second, remainder >= 0.0, cap);
    }
    /// One step from f, f', f'' at `value`.
    void advance(double f, double first, double second, bool smooth, double cap) {
        ++passes;
        if (done) return;
        if (f == 0.0 || passes > 200) {
            done = true;
            faded = f == 0.0 && first == 0.0;
            return;
        }
        (f > 0.0 ? low : high) = value;
        double next = value + newton(f, first, second);
        const double reach = 1.0 + std::fabs(value);  // at most double the distance in one go
        if (!(std::fabs(next - value) <= reach)) next = value + (f > 0.0 ? reach : -reach);
        if (next == value) {  // the step is below the last digit
            done = true;
            return;
        }
        const bool outside = !(next > low && next < high);
        if (outside && std::isfinite(low) && std::isfinite(high)) next = 0.5 * (low + high);
        const double change = std::fabs(next - value);
        const double scale = std::min(1.0, std::fabs(next));
        if (smooth && !outside) {
            done = 1.1 * change * change * change <= 1e-11 * scale;
        } else {
            done = change <= 1e-12 * std::fabs(next);
        }
        done = done || change == 0.0;
        value = next;
        if (std::fabs(value) >= cap) {
            value = value > 0.0 ? cap : -cap;
            done = capped = true;
        }
    }

  private:
    /// The step of the first pass: the root of the polynomial through all trials, or one of Halley's from the nearest.
    void interpolate(const std::vector<Slopes>& at, double remainder, double cap) {
        const std::vector<double> v = trials(remainder);
        std::size_t best = 0;
        for (std::size_t k = 0; k < v.size(); ++k) {
            if (at[k].f > 0.0) low = std::max(low, v[k]);
            if (at[k].f < 0.0) high = std::min(high, v[k]);
            if (std::fabs(at[k].f * at[best].first) < std::fabs(at[best].f * at[k].first)) best = k;
        }
        for (std::size_t k = v.size(); k-- > 0;) best = at[k].f == 0.0 ? k : best;
        const double found = root_of(v, at, v[best]);
        const double product = std::fabs((found - v[0]) * (found - v[1]) * (found - v[2]));
        const double span = std::max({v[0], v[2], found}) - std::min({v[0], v[2], found});
        const double error = remainder * product * product * product * std::exp(1.5 * span);
        const double change = std::fabs(found - v[best]);
        value = v[best];
        const double beyond = std::fabs(v[1] - v[0]);  // farther from the trials rounding errors grow
        const bool near = std::fabs(found - v[1]) <= 2.0 * beyond && std::fabs(found) < cap;
        if (!(near && found > low && found < high && error < 1.1 * change * change * change)) {
            return advance(at[best].f, at[best].first, at[best].second, true, cap);
        }
        ++passes;
        done = error <= 1e-11 * std::min(1.0, std::fabs(found));
        value = found;
    }

    /// The root of the polynomial with these values and derivatives, by Newton's method; NaN where it does not fall.
    static double root_of(const std::vector<double>& v, const std::vector<Slopes>& at, double start) {
        const int n = 3 * static_cast<int>(v.size());
        std::vector<double> c(n);  // divided differences, each trial taken three times: Newton's form
        for (int i = 0; i < n; ++i) c[i] = at[i / 3].f;
        for (int j = 1; j < n; ++j) {
            for (int i = n - 1; i >= j; --i) {
                const Slopes& own = at[i / 3];
                const bool same = i / 3 == (i - j) / 3;
                const double confluent = j == 1 ? own.first : 0.5 * own.second;
                c[i] = same ? confluent : (c[i] - c[i - 1]) / (v[i / 3] - v[(i - j) / 3]);
            }
        }
        double x = start;
        for (int step = 0; step < 50; ++step) {
            double p = c[n - 1], slope = 0.0;
            for (int i = n - 2; i >= 0; --i) {
                const double from = x - v[i / 3];
                slope = slope * from + p;
                p = p * from + c[i];
            }
            if (!(slope < 0.0)) break;
            const double next = x - p / slope;
            if (std::fabs(next - x) <= 1e-15 * std::fabs(next)) return next;
            x = next;
        }
        return std::numeric_limits<double>::quiet_NaN();
    }

    static double newton(double f, double first, double second) {
        if (!(first < 0.0)) return f > 0.0 ? std::numeric_limits<double>::max() : -std::numeric_limits<double>::max();
        const double plain = -f / first;
        const double bend = 2.0 * first * first - f * second;
        const double halley = -2.0 * f * first / bend;
        return bend > 0.0 && std::isfinite(halley) && halley * plain > 0.0 ? halley : plain;
    }
};

}  // namespace permissible::rules
