// Patterns by refinement: each new rule splits the patterns so far.
#include "rules/refit/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/parallel.hpp"

namespace permissible::rules {

void PatternIndex::refine(Rows& rows, const RuleMask& rule) {
    const uint8_t* mask = rows.mask_of(rule);
    std::vector<int32_t> renamed(2 * bits_.size(), -1);
    std::vector<std::vector<uint8_t>> bits;
    for (std::size_t i = 0; i < pattern_of_row_.size(); ++i) {
        const auto old = static_cast<std::size_t>(pattern_of_row_[i]);
        int32_t& name = renamed[2 * old + mask[i]];
        if (name < 0) {
            name = static_cast<int32_t>(bits.size());
            bits.push_back(bits_[old]);
            bits.back().push_back(mask[i]);
        }
        pattern_of_row_[i] = name;
    }
    bits_ = std::move(bits);
    rules_.push_back(rule);
}

PatternTable PatternIndex::table(Rows& rows, const std::vector<RuleMask>& rules, double grid) {
    const bool continues = !pattern_of_row_.empty() && rules.size() >= rules_.size() &&
                           std::equal(rules_.begin(), rules_.end(), rules.begin(), same_rule);
    if (!continues) {
        rules_.clear();
        pattern_of_row_.assign(rows.n_rows(), 0);
        bits_.assign(1, {});
    }
    for (std::size_t t = rules_.size(); t < rules.size(); ++t) refine(rows, rules[t]);
    std::vector<int64_t> weights(2 * bits_.size(), 0);
    for (std::size_t i = 0; i < pattern_of_row_.size(); ++i) {
        weights[2 * static_cast<std::size_t>(pattern_of_row_[i]) + rows.positive(i)] += rows.quantised_sample(i, grid);
    }
    std::vector<std::size_t> order(bits_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) { return bits_[a] < bits_[b]; });
    PatternTable found;
    found.n_rules = rules.size();
    for (const std::size_t p : order) {
        found.bits.insert(found.bits.end(), bits_[p].begin(), bits_[p].end());
        found.weights.push_back(weights[2 * p]);
        found.weights.push_back(weights[2 * p + 1]);
    }
    return found;
}

namespace {

PERMISSIBLE_CLONES
void add_row(const double* signs, double factor, std::size_t n, double* row) {
    for (std::size_t s = 0; s < n; ++s) row[s] += factor * signs[s];
}

void set_signs(const uint8_t* bits, std::size_t n_rules, double* signs) {
    for (std::size_t t = 0; t < n_rules; ++t) signs[t + 1] = bits[t] ? 1.0 : -1.0;
}

}  // namespace

void pattern_gradient(const uint8_t* bits, std::size_t n_patterns, std::size_t n_rules, const double* first,
                      double* gradient) {
    std::vector<double> signs(n_rules + 1, 1.0);
    for (std::size_t p = 0; p < n_patterns; ++p) {
        set_signs(bits + p * n_rules, n_rules, signs.data());
        add_row(signs.data(), first[p], n_rules + 1, gradient);
    }
}

void pattern_hessian(const uint8_t* bits, std::size_t n_patterns, std::size_t n_rules, const double* second,
                     double* hessian) {
    const std::size_t n = n_rules + 1;
    std::vector<double> signs(n, 1.0);
    for (std::size_t p = 0; p < n_patterns; ++p) {
        set_signs(bits + p * n_rules, n_rules, signs.data());
        for (std::size_t t = 0; t < n; ++t) add_row(signs.data(), second[p] * signs[t], t + 1, hessian + t * n);
    }
    for (std::size_t t = 0; t < n; ++t) {
        for (std::size_t s = t + 1; s < n; ++s) hessian[t * n + s] = hessian[s * n + t];
    }
}

}  // namespace permissible::rules
