// Five sums per attribute decide it: sum |w|, |w|x, |w|x^2, w, wx. A term is rounded to its grid by adding and taking
// away a large number, which keeps the loops plain; a run of rows is then added exactly in floating point, and runs as
// integers.
#include "mcboost/affine.hpp"

#include <algorithm>
#include <cmath>

#include "common/grids.hpp"
#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

constexpr int kRunBits = 8;
constexpr std::size_t kRun = std::size_t{1} << kRunBits;  // rows whose sum stays below 2^53 steps of the grid

/// Adding and subtracting 1.5 * 2^52 steps leaves a multiple of the step.
double rounder(double step) { return std::ldexp(step, 52) * 1.5; }

PERMISSIBLE_CLONES void run_sums(const double* x, const double* gradient, const double* norm, const double* share,
                                 int d, int outputs, std::size_t rows, std::size_t begin, std::size_t end,
                                 double to_weight, const double* unit, const double* square, double whole,
                                 double* sums) {
    double* first = sums;
    double* second = sums + d;
    double* cross = sums + 2 * d;
    double* totals = sums + (2 + outputs) * d;
    for (std::size_t i = begin; i < end; ++i) {
        const double keep = share ? share[i] * to_weight : to_weight;
        const double w = norm ? keep * norm[i] : keep * std::abs(gradient[i]);
        if (w == 0) continue;
        const double* row = x + i * d;
        for (int c = 0; c < d; ++c) {
            const double weighted = w * row[c], squared = weighted * row[c];
            first[c] += (weighted + unit[c]) - unit[c];
            second[c] += (squared + square[c]) - square[c];
        }
        totals[0] += (w + whole) - whole;
        for (int r = 0; r < outputs; ++r) {
            const double g = keep * gradient[r * rows + i];
            double* out = cross + r * d;
            for (int c = 0; c < d; ++c) out[c] += (g * row[c] + unit[c]) - unit[c];
            totals[1 + r] += (g + whole) - whole;
        }
    }
}

/// One over the step of each sum: what turns a run's sum into an integer.
std::vector<double> per_step(const AffineGrid& grid, int d, int outputs) {
    std::vector<double> inverse;
    for (int c = 0; c < d; ++c) inverse.push_back(1.0 / grid.unit[c]);
    for (int c = 0; c < d; ++c) inverse.push_back(1.0 / grid.square[c]);
    for (int r = 0; r < outputs; ++r)
        for (int c = 0; c < d; ++c) inverse.push_back(1.0 / grid.unit[c]);
    inverse.insert(inverse.end(), 1 + outputs, 1.0 / grid.whole);
    return inverse;
}

}  // namespace

// |w x| < 2^(exponent of w + exponent of x); the grid is that bound over 2^(52 - kRunBits), coarser where so many rows
// could fill 62 bits.
AffineGrid::AffineGrid(double largest, const Attributes& attributes, std::size_t rows) {
    const int fine = std::min(52 - kRunBits, 61 - bits_for(rows));
    int exponent = 0;
    if (largest > 0 && std::isfinite(largest)) std::frexp(largest, &exponent);
    to_weight = std::isfinite(largest) ? std::ldexp(1.0, std::clamp(-exponent, -1000, 1000)) : 0.0;
    whole = std::ldexp(1.0, 1 - fine);  // a coordinate's size may round up to just above the norm
    for (int c = 0; c < attributes.count; ++c) {
        const double size = std::max(std::abs(attributes.low[c]), std::abs(attributes.high[c]));
        int bits = 0;
        if (size > 0 && std::isfinite(size)) std::frexp(size, &bits);
        bits = std::clamp(bits, -300, 300);
        unit.push_back(std::ldexp(whole, bits));
        square.push_back(std::ldexp(whole, 2 * bits));
    }
}

double largest_weight(const State& state, int outputs) {
    const double* sizes = outputs > 1 ? state.curvature.data() : state.gradient.data();
    double largest = 0;
    for (std::size_t i = 0; i < state.rows(); ++i) largest = std::max(largest, std::abs(sizes[i]));
    return largest;
}

std::vector<int64_t> affine_sums(const State& state, const Attributes& attributes, int outputs,
                                 const AffineGrid& grid) {
    const int d = attributes.count;
    const std::size_t n = state.rows(), width = (2 + outputs) * d + 1 + outputs;
    const auto runs = static_cast<std::ptrdiff_t>((n + kRun - 1) / kRun);
    const double* norm = outputs > 1 ? state.curvature.data() : nullptr;
    std::vector<double> unit, square;
    for (const double step : grid.unit) unit.push_back(rounder(step));
    for (const double step : grid.square) square.push_back(rounder(step));
    const std::vector<double> inverse = per_step(grid, d, outputs);
    std::vector<int64_t> sums(width, 0);
    if (grid.to_weight == 0) return sums;  // infinite weights: nothing can be fitted
#pragma omp parallel num_threads(state.threads())
    {
        std::vector<int64_t> own(width, 0);
        std::vector<double> run(width);
#pragma omp for schedule(static)
        for (std::ptrdiff_t b = 0; b < runs; ++b) {
            std::fill(run.begin(), run.end(), 0.0);
            const std::size_t begin = b * kRun, end = std::min(n, begin + kRun);
            run_sums(attributes.values, state.gradient.data(), norm, attributes.share, d, outputs, n, begin, end,
                     grid.to_weight, unit.data(), square.data(), rounder(grid.whole), run.data());
            for (std::size_t k = 0; k < width; ++k) own[k] += static_cast<int64_t>(run[k] * inverse[k]);
        }
#pragma omp critical(permissible_mcboost_affine)
        for (std::size_t k = 0; k < width; ++k) sums[k] += own[k];
    }
    return sums;
}

Affine choose_affine(const int64_t* sums, const Attributes& attributes, int outputs, const AffineGrid& grid) {
    const int d = attributes.count;
    const std::size_t width = (2 + outputs) * d + 1 + outputs;
    const std::vector<double> inverse = per_step(grid, d, outputs);
    std::vector<double> value(width);
    for (std::size_t k = 0; k < width; ++k) value[k] = static_cast<double>(sums[k]) / inverse[k];
    const double* first = value.data();
    const double* second = first + d;
    const double* cross = first + 2 * d;
    const double* totals = first + (2 + outputs) * d;
    Affine best{-1, std::vector<double>(outputs, 0.0), std::vector<double>(outputs, 0.0), 0.0};
    const double mass = totals[0];
    if (!(mass > 0)) return best;
    double largest = 0, level = 0;
    for (int r = 0; r < outputs; ++r) {
        best.intercept[r] = -totals[1 + r] / mass;
        level += totals[1 + r] * totals[1 + r] / mass;
    }
    for (int c = 0; c < d; ++c) {
        if (attributes.allowed && !attributes.allowed[c]) continue;
        const double spread = second[c] - first[c] * first[c] / mass;
        if (!(spread > 1e-10 * (second[c] + 1e-300))) continue;  // constant on the rows that have weight
        double gain = 0;
        for (int r = 0; r < outputs; ++r) {
            const double covariance = cross[r * d + c] - first[c] * totals[1 + r] / mass;
            gain += covariance * covariance / spread;
        }
        if (gain > largest * (1 + 1e-10)) {  // the first of those that are equal up to rounding
            largest = gain;
            best.column = c;
        }
    }
    best.explained = (level + largest) / mass;
    if (best.column < 0) return best;
    const int c = best.column;
    const double spread = second[c] - first[c] * first[c] / mass;
    for (int r = 0; r < outputs; ++r) {
        best.slope[r] = -(cross[r * d + c] - first[c] * totals[1 + r] / mass) / spread;
        best.intercept[r] -= best.slope[r] * first[c] / mass;
    }
    return best;
}

Affine fit_affine(const State& state, const Attributes& attributes, int outputs) {
    const AffineGrid grid(largest_weight(state, outputs), attributes, state.rows());
    return choose_affine(affine_sums(state, attributes, outputs, grid).data(), attributes, outputs, grid);
}

namespace {

double value_at(const Affine& fit, int r, double x) {
    return fit.column < 0 ? fit.intercept[r] : fit.slope[r] * x + fit.intercept[r];
}

}  // namespace

void set_affine(State& state, const Attributes& attributes, const Affine& fit, int coordinate) {
    const std::size_t n = state.rows(), outputs = fit.slope.size();
    const auto x = [&](std::size_t i) {
        return fit.column < 0 ? 0.0 : attributes.values[i * attributes.count + fit.column];
    };
    if (coordinate >= 0) {
        for (std::size_t i = 0; i < n; ++i) state.step[i] = value_at(fit, 0, x(i));
        return;
    }
    std::vector<double> f(n * outputs);
    for (std::size_t r = 0; r < outputs; ++r)
        for (std::size_t i = 0; i < n; ++i) f[r * n + i] = value_at(fit, static_cast<int>(r), x(i));
    state.directions_from_step(f);
}

double affine_reach(const Affine& fit, const Attributes& attributes, int coordinate, int classes) {
    State ends(2, classes, Loss::gll, 1);  // a row at either end
    const double values[2] = {fit.column < 0 ? 0.0 : attributes.low[fit.column],
                              fit.column < 0 ? 0.0 : attributes.high[fit.column]};
    const Attributes two{values, 1, values, values + 1, nullptr, nullptr};
    Affine same = fit;
    same.column = fit.column < 0 ? -1 : 0;
    set_affine(ends, two, same, coordinate);
    double largest = 0;
    if (coordinate < 0) {
        for (const double value : ends.directions) largest = std::max(largest, std::abs(value));
        return largest;
    }
    for (const double value : ends.step) largest = std::max(largest, std::abs(value));
    return largest * ends.coordinate_scale(coordinate) * (coordinate + 1);
}

double affine_square(const Affine& fit, int coordinate, int classes) {
    const State scales(0, classes, Loss::gll, 1);
    double sum = 0;
    for (std::size_t k = 0; k < fit.slope.size(); ++k) {
        const int r = coordinate < 0 ? static_cast<int>(k) : coordinate;
        const double most = scales.coordinate_scale(r) * (r + 1);
        sum += (fit.slope[k] * fit.slope[k] + fit.intercept[k] * fit.intercept[k]) * most * most;
    }
    return sum;
}

}  // namespace permissible::mcboost
