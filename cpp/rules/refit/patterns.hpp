// Which rules cover a row, as a pattern of bits. A score made of rules is the same for all rows of a pattern, so
// refitting every coefficient (the corrective scheme) needs the patterns and their weights only, not the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/rows.hpp"

namespace permissible::rules {

struct PatternTable {
    std::size_t n_rules = 0;
    std::vector<uint8_t> bits;     // (n_patterns, n_rules), sorted
    std::vector<int64_t> weights;  // (n_patterns, 2): negatives, positives, on the grid of sample weights
};

/// Patterns of a growing list of rules: a list that continues the last one costs one pass per new rule.
class PatternIndex {
  public:
    PatternTable table(Rows& rows, const std::vector<RuleMask>& rules, double grid);

  private:
    void refine(Rows& rows, const RuleMask& rule);

    std::vector<RuleMask> rules_;
    std::vector<int32_t> pattern_of_row_;
    std::vector<std::vector<uint8_t>> bits_;
};

/// The gradient over (constant, rules) from per-pattern derivatives, in the order of the patterns: h = +-1, gradient_t
/// = sum first_p h_t. Its size is 1 + n_rules.
void pattern_gradient(const uint8_t* bits, std::size_t n_patterns, std::size_t n_rules, const double* first,
                      double* gradient);

/// The Hessian, hessian_ts = sum second_p h_t h_s. Its size is the square of 1 + n_rules.
void pattern_hessian(const uint8_t* bits, std::size_t n_patterns, std::size_t n_rules, const double* second,
                     double* hessian);

}  // namespace permissible::rules
