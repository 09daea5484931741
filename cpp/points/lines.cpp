// Newton's method with Levenberg's damping, step by step as in the readable twin.
#include "points/lines.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace permissible::rules {

namespace {

constexpr int kMaxSteps = 200;
constexpr double kTolerance = 1e-11;  // of a derivative, as a fraction of what it could be at score 0

struct Total {
    double total, negative, positive;
};

struct Expansion {
    double value = 0.0, first[2] = {0.0, 0.0}, second[3] = {0.0, 0.0, 0.0};
};

Expansion expand(const LossPasses& loss, const std::vector<Total>& totals, double ridge, double offset, double unit) {
    Expansion at;
    double three[3];
    for (const Total& one : totals) {
        const double score = offset + unit * one.total;
        double first = 0.0, second = 0.0;
        if (one.positive > 0.0) {
            at.value += one.positive * loss.value_of(score);
            loss.derivatives_of(score, three);
            first -= one.positive * three[0];
            second += one.positive * three[1];
        }
        if (one.negative > 0.0) {
            at.value += one.negative * loss.value_of(-score);
            loss.derivatives_of(-score, three);
            first += one.negative * three[0];
            second += one.negative * three[1];
        }
        at.first[0] += first;
        at.first[1] += first * one.total;
        at.second[0] += second;
        at.second[1] += second * one.total;
        at.second[2] += second * one.total * one.total;
    }
    at.value += 0.5 * ridge * unit * unit;
    at.first[1] += ridge * unit;
    at.second[2] += ridge;
    return at;
}

}  // namespace

Line fit_line(const LossPasses& loss, const double* weight, std::size_t n_totals, double ridge, double offset,
              double unit) {
    std::vector<Total> totals;
    double everything = 0.0;
    for (std::size_t t = 0; t < n_totals; ++t) {
        const double negative = weight[2 * t], positive = weight[2 * t + 1];
        everything += negative + positive;
        if (negative > 0.0 || positive > 0.0) totals.push_back({static_cast<double>(t), negative, positive});
    }
    const double most = std::max<double>(static_cast<double>(n_totals) - 1.0, 1.0);
    const auto residual = [&](const Expansion& at) {
        return std::max(std::fabs(at.first[0]) / everything, std::fabs(at.first[1]) / (everything * most));
    };
    Expansion at = expand(loss, totals, ridge, offset, unit);
    double damping = 1e-6;
    for (int step = 0; step < kMaxSteps; ++step) {
        const double reach = std::fabs(offset) + std::fabs(unit) * (static_cast<double>(n_totals) - 1.0);
        const double left = residual(at);
        if (!(left > kTolerance) || !(reach < 4.0 * loss.cap()) || !(damping < 1e12)) break;
        double a = at.second[0], c = at.second[2];
        const double b = at.second[1];
        const double size = std::max(a + c, std::max(std::fabs(at.first[0]), std::fabs(at.first[1])));
        a += damping * std::max(a, 1e-3 * size);
        c += damping * std::max(c, 1e-3 * size);
        const double determinant = std::max(a * c - b * b, 1e-300);
        const double move_offset = (b * at.first[1] - c * at.first[0]) / determinant;
        const double move_unit = (b * at.first[0] - a * at.first[1]) / determinant;
        const Expansion there = expand(loss, totals, ridge, offset + move_offset, unit + move_unit);
        const double slope = -(at.first[0] * move_offset + at.first[1] * move_unit);
        const bool lost = slope <= 1e-13 * std::fabs(at.value);  // below rounding: compare gradients
        const bool better = lost ? residual(there) < left : at.value - there.value >= 1e-4 * slope;
        if (better) {
            offset += move_offset;
            unit += move_unit;
            at = there;
            damping = std::max(damping / 10.0, 1e-14);
        } else {
            damping *= 8.0;
        }
    }
    return {offset, unit, at.value};
}

Line fit_card(const LossPasses& loss, const CardCells& cells, const int64_t* points, double l2, double offset,
              double unit) {
    int64_t most = 0, squares = 0;
    for (std::size_t t = 0; t < cells.n_rules; ++t) most += points[t], squares += points[t] * points[t];
    std::vector<int64_t> sums(2 * (static_cast<std::size_t>(most) + 1), 0);
    for (std::size_t p = 0; p < cells.n_patterns; ++p) {
        const uint8_t* bits = cells.bits + p * cells.n_rules;
        std::size_t total = 0;
        for (std::size_t t = 0; t < cells.n_rules; ++t) total += bits[t] ? static_cast<std::size_t>(points[t]) : 0;
        sums[2 * total] += cells.weight[2 * p];
        sums[2 * total + 1] += cells.weight[2 * p + 1];
    }
    std::vector<double> weight(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) weight[i] = static_cast<double>(sums[i]) / cells.grid;
    return fit_line(loss, weight.data(), sums.size() / 2, 0.5 * l2 * static_cast<double>(squares), offset, unit);
}

}  // namespace permissible::rules
