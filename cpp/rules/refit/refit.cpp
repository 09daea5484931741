// See refit.hpp. Step by step as in the readable twin, but for its search for coefficients without a finite minimum.
#include "rules/refit/refit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rules/refit/patterns.hpp"

namespace permissible::rules {

namespace {

constexpr double kTolerance = 1e-12, kAccepted = 1e-9, kRounding = 1e-12;
constexpr double kFirstDamping = 1e-6, kLargestDamping = 1e20, kRidge = 1e-14;

struct Expansion {
    double value = 0.0;
    std::vector<double> gradient, second;
};

class Objective {
  public:
    Objective(const LossPasses& loss, const WeightedPatterns& patterns, const uint8_t* free, double penalty)
        : loss_(loss), patterns_(patterns), n_(patterns.n_rules + 1), penalty_(penalty) {
        for (std::size_t t = 0; t < n_; ++t)
            if (free[t]) free_.push_back(t);
        double total = 0.0, three[3];
        for (std::size_t p = 0; p < 2 * patterns.n_patterns; ++p) total += patterns.weight[p];
        loss.derivatives_of(0.0, three);
        slope_ = three[0] * total + 1e-300, unit_ = three[1] * total;
    }

    Expansion at(const std::vector<double>& theta) const {
        Expansion found;
        found.second.resize(patterns_.n_patterns);
        first_.resize(patterns_.n_patterns);
        double three[3];
        for (std::size_t p = 0; p < patterns_.n_patterns; ++p) {
            const uint8_t* bits = patterns_.bits + p * patterns_.n_rules;
            double score = theta[0];
            for (std::size_t t = 1; t < n_; ++t) score += bits[t - 1] ? theta[t] : -theta[t];
            const double negative = patterns_.weight[2 * p], positive = patterns_.weight[2 * p + 1];
            double first = 0.0, second = 0.0;
            if (positive > 0.0) {
                found.value += positive * loss_.value_of(score);
                loss_.derivatives_of(score, three);
                first += positive * three[0], second += positive * three[1];
            }
            if (negative > 0.0) {
                found.value += negative * loss_.value_of(-score);
                loss_.derivatives_of(-score, three);
                first -= negative * three[0], second += negative * three[1];
            }
            first_[p] = first, found.second[p] = second;
        }
        found.gradient.assign(n_, 0.0);
        pattern_gradient(patterns_.bits, patterns_.n_patterns, patterns_.n_rules, first_.data(), found.gradient.data());
        for (std::size_t t = 0; t < n_; ++t) {
            const double own = t ? penalty_ * theta[t] : 0.0;
            found.gradient[t] = own - found.gradient[t];
            found.value += 0.5 * own * theta[t];
        }
        return found;
    }

    double residual(const Expansion& at) const {
        double largest = 0.0;
        for (const std::size_t t : free_) largest = std::max(largest, std::fabs(at.gradient[t]) / slope_);
        return largest;
    }

    /// The damped Newton step, solved by Cholesky for columns of unit norm; false where rounding has made them
    /// dependent.
    bool step(const Expansion& at, double damping, std::vector<double>& step) const {
        std::vector<double> hessian(n_ * n_, 0.0);
        pattern_hessian(patterns_.bits, patterns_.n_patterns, patterns_.n_rules, at.second.data(), hessian.data());
        std::vector<std::size_t> used;
        std::vector<double> norm;
        for (const std::size_t t : free_) {
            const double diagonal = hessian[t * n_ + t] + (t ? penalty_ : 0.0) + damping * unit_;
            if (diagonal > 0.0) used.push_back(t), norm.push_back(std::sqrt(diagonal));
        }
        const std::size_t m = used.size();
        std::vector<double> lower(m * m), right(m);
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = i == j ? 1.0 + kRidge : hessian[used[i] * n_ + used[j]] / norm[i] / norm[j];
                for (std::size_t k = 0; k < j; ++k) sum -= lower[i * m + k] * lower[j * m + k];
                if (i == j && !(sum > 0.0)) return false;
                lower[i * m + j] = i == j ? std::sqrt(sum) : sum / lower[j * m + j];
            }
        }
        for (std::size_t i = 0; i < m; ++i) {
            double sum = -at.gradient[used[i]] / norm[i];
            for (std::size_t k = 0; k < i; ++k) sum -= lower[i * m + k] * right[k];
            right[i] = sum / lower[i * m + i];
        }
        step.assign(n_, 0.0);
        for (std::size_t i = m; i-- > 0;) {
            for (std::size_t k = i + 1; k < m; ++k) right[i] -= lower[k * m + i] * right[k];
            right[i] /= lower[i * m + i];
            step[used[i]] = right[i] / norm[i];
        }
        return true;
    }

  private:
    const LossPasses& loss_;
    const WeightedPatterns patterns_;
    const std::size_t n_;
    const double penalty_;
    std::vector<std::size_t> free_;
    double slope_, unit_;
    mutable std::vector<double> first_;
};

double inner(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

Refitted refit(const LossPasses& loss, const WeightedPatterns& patterns, const uint8_t* free, double penalty,
               int max_steps, double* theta) {
    const Objective objective(loss, patterns, free, penalty);
    std::vector<double> point(theta, theta + patterns.n_rules + 1), step, trial;
    Expansion at = objective.at(point);
    double share = kFirstDamping, growth = 4.0, residual = objective.residual(at);
    for (int number = 0; number < max_steps && residual > kTolerance && share <= kLargestDamping; ++number) {
        if (!objective.step(at, share * residual, step)) return {residual, false};
        const double slope = -inner(at.gradient, step);
        const bool lost = slope <= kRounding * std::fabs(at.value);
        bool better = false;
        double gain = 0.0;
        Expansion there;
        if (slope > 0.0) {
            trial = point;
            for (std::size_t t = 0; t < trial.size(); ++t) trial[t] += step[t];
            there = objective.at(trial);
            gain = at.value - there.value;
            better = lost ? inner(there.gradient, step) <= 0.9 * slope && gain >= -kRounding * std::fabs(at.value)
                          : gain >= 1e-4 * slope;
        }
        if (better) {
            share = gain < 0.1 * slope && !lost ? share * 4.0 : std::max(share / 10.0, 1e-30);
            point.swap(trial), at = std::move(there), growth = 4.0;
            residual = objective.residual(at);
        } else {
            share = std::max(share * growth, kFirstDamping), growth = std::min(2.0 * growth, 64.0);
        }
    }
    std::copy(point.begin(), point.end(), theta);
    return {residual, residual <= kAccepted};
}

}  // namespace permissible::rules
