// The rows of one table (or of one part of it) during a fit: codes, labels, sample weights and the states of the
// margins. Answers are integer sums, and only `apply` changes the rows. The coordinator chooses grids and steps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "histogram/joint.hpp"
#include "histogram/packed.hpp"
#include "losses/passes.hpp"
#include "rules/row_table.hpp"
#include "rules/rule.hpp"

namespace permissible::rules {

/// The grids of a histogram, and which rows it looks at (RowDraw).
struct HistogramRequest {
    double weight_grid = 1.0, curvature_grid = 1.0;
    double threshold = 0.0;
    uint64_t seed = 0;
    bool operator==(const HistogramRequest&) const = default;
};

class Rows {
  public:
    /// `sample_weight` null means 1 each; `whole` says that all weights are integers of at most 2^kMultiplicityBits.
    /// `state` keeps the states of the margins outside, so that rows may be built again from them. `hashes` of the
    /// content of each row are needed for samples; with `keeps` their rows stay in tables for the next histogram.
    Rows(Codes codes, const uint8_t* positive, const double* sample_weight, bool whole, const Functor& loss,
         bool two_sums, int n_threads, const uint32_t* hashes = nullptr, double* state = nullptr, bool keeps = false);
    /// Lets columns of few values share a code in searches and masks; `bins` values of each column.
    void join(const std::vector<int>& bins);

    /// Sets every margin to y * score (score per row, or the same constant), and the weights with it.
    StepSums restart(const double* score, double constant, const Grids& grids);
    /// Sets the margins to those of score = constant + sum of coefficient * h, added in order.
    StepSums reset(const std::vector<RuleMask>& rules, const double* coefficients, double constant, const Grids& grids);
    /// Over the rows that a rule covers, or over the others.
    void histogram_of(const RuleMask& prefix, const HistogramRequest& request, int64_t* sums);
    /// The rows of a search, in joint codes if columns share them; tables of earlier searches are overwritten.
    RowTable& table(const HistogramRequest& request);
    /// Tables of the rows that a rule covers, one for each of its literals.
    RowTable& deeper(std::size_t n_literals);
    /// A literal as the tables test it.
    LiteralMask searched(const LiteralMask& literal) const { return joint_ ? joined({literal})[0] : literal; }
    const JointCodes* joint() const { return joint_.get(); }
    /// Of each rule the sum of the quantised signed weights of the rows that it covers, in one visit of the rows.
    std::vector<int64_t> signed_weights_of(const std::vector<RuleMask>& rules, double weight_grid) const;
    /// The same of one rule, and over all rows.
    std::array<int64_t, 2> signed_weights_around(const RuleMask& rule, double weight_grid);
    /// Sums at several trial steps, (in, out) each.
    std::vector<Measured> measure(const RuleMask& rule, const std::vector<std::pair<double, double>>& trials,
                                  const Grids& grids);
    StepSums apply(const RuleMask& rule, double value_in, double value_out, const Grids& grids);
    /// The mask of a rule, kept until another one is requested; also the number of covered rows.
    const uint8_t* mask_of(const RuleMask& rule);
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
    RuleMask joined(const RuleMask& rule) const;
    void sum_table(const RuleMask& prefix, int64_t* sums);

    Codes codes_;
    int n_threads_;
    bool two_sums_, keeps_;
    const uint32_t* hashes_;
    HistogramRequest searched_for_;  // what the first table holds; without a sample a threshold of 0
    std::unique_ptr<JointCodes> joint_;
    std::vector<std::unique_ptr<RowTable>> tables_;
    std::unique_ptr<LossPasses> passes_;
    std::vector<double> own_state_;
    double* state_;
    std::vector<float> multiplicity_;
    std::vector<uint8_t> mask_;
    RuleMask masked_rule_;
    bool masked_ = false;
    std::size_t covered_ = 0;
    std::vector<std::size_t> ends_;
    Examples examples_;
    double total_weight_ = 0.0, largest_sample_ = 1.0;
};

bool same_rule(const RuleMask& a, const RuleMask& b);

}  // namespace permissible::rules
