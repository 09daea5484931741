// The rows of one table (or of one part of it) during a fit: codes, labels, sample weights and the states of the
// margins. Answers are integer sums, and only `apply` changes the rows. The coordinator chooses grids and steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "histogram/packed.hpp"
#include "losses/passes.hpp"
#include "rules/rule.hpp"

namespace permissible::rules {

class Rows {
  public:
    /// `sample_weight` null means 1 each; `whole` says that all weights are integers of at most 2^kMultiplicityBits.
    /// `state` keeps the states of the margins outside, so that rows may be built again from them.
    Rows(Codes codes, const uint8_t* positive, const double* sample_weight, bool whole, const Functor& loss,
         bool two_sums, int n_threads, uint64_t first_row, double* state = nullptr);

    /// Sets every margin to y * score (score per row, or the same constant), and the weights with it.
    StepSums restart(const double* score, double constant, const Grids& grids);
    /// Sets the margins to those of score = constant + sum of coefficient * h, added in order.
    StepSums reset(const std::vector<RuleMask>& rules, const double* coefficients, double constant, const Grids& grids);
    /// Over the rows that a rule covers, or over the others.
    void histogram_of(const RuleMask& prefix, double weight_grid, double curvature_grid, double share, uint64_t seed,
                      int64_t* sums, bool covered = true);
    /// Of each rule the sum of the quantised signed weights of the rows that it covers, in one visit of the rows.
    std::vector<int64_t> signed_weights_of(const std::vector<RuleMask>& rules, double weight_grid) const;
    Measured measure(const RuleMask& rule, double value_in, double value_out, const Grids& grids);
    StepSums apply(const RuleMask& rule, double value_in, double value_out, const Grids& grids);
    /// The mask of a rule, kept until another one is requested; also the number of covered rows. Of a sample only the
    /// taken rows are masked and counted.
    const uint8_t* mask_of(const RuleMask& rule, const Sample& sample = {});
    Sample sample(double share, uint64_t seed) const;
    std::size_t rows_in(const Sample& sample) const;
    std::size_t covered() const { return covered_; }
    bool positive(std::size_t row) const { return examples_.positive[row] != 0; }
    /// The sample weight of a row as an integer: copies, or a real weight on a grid.
    int64_t quantised_sample(std::size_t row, double grid) const;

    const LossPasses& passes() const { return *passes_; }
    const Codes& codes() const { return codes_; }
    bool two_sums() const { return two_sums_; }
    std::size_t n_rows() const { return codes_.rows; }
    double total_weight() const { return total_weight_; }
    double units() const { return mode() == WeightMode::real ? static_cast<double>(n_rows()) : total_weight_; }
    double largest_sample() const { return largest_sample_; }
    WeightMode mode() const { return examples_.mode; }

  private:
    template <class Work>
    void over_rows(Work work) const;

    Codes codes_;
    int n_threads_;
    bool two_sums_;
    uint64_t first_row_;
    std::unique_ptr<LossPasses> passes_;
    std::vector<double> own_state_;
    double* state_;
    std::vector<float> multiplicity_;
    std::vector<uint8_t> mask_;
    RuleMask masked_rule_;
    Sample masked_sample_;
    bool masked_ = false;
    std::size_t covered_ = 0;
    std::vector<std::size_t> ends_;
    Examples examples_;
    double total_weight_ = 0.0, largest_sample_ = 1.0;
};

bool same_rule(const RuleMask& a, const RuleMask& b);

}  // namespace permissible::rules
