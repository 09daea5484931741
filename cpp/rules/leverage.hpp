// The leveraging step: the root of the surrogate's derivative along a rule, (35) of [T]. Derivatives come from passes
// over the rows; this file has only the scalar iteration, so that the compiled and the readable loop take the same
// steps.
//
// f(v) = sum of y w at step v, minus l2 v, falls in v. Halley's method uses f' and f'' of the same pass; a bracket
// guards it. A step D of a smooth loss leaves an error below 1.1 |D|^3 (mathematics.md 4; the third derivatives are
// bounded by the curvature), so the iteration stops as soon as that is below 1e-11, absolute and relative to the step,
// without a further pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace permissible::rules {

struct Root {
    double value = 0.0;
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    int passes = 0;
    bool done = false;
    bool capped = false;  // ran into the cap: no finite minimiser (a one-signed column)
    bool faded = false;   // neither f nor f' is left

    /// Back to the previous trial if all terms of the last one are below the grid, which a long step made coarse. For
    /// losses whose weights are never 0.
    void retreat() {
        const double before = value > 0.0 ? low : high;
        if (faded && std::isfinite(before)) value = before;
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
    static double newton(double f, double first, double second) {
        if (!(first < 0.0)) return f > 0.0 ? std::numeric_limits<double>::max() : -std::numeric_limits<double>::max();
        const double plain = -f / first;
        const double bend = 2.0 * first * first - f * second;
        const double halley = -2.0 * f * first / bend;
        return bend > 0.0 && std::isfinite(halley) && halley * plain > 0.0 ? halley : plain;
    }
};

}  // namespace permissible::rules
