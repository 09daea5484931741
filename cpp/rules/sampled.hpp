// Which rows the search of a round looks at, from the sums of the last step; step.py is the readable version.
#pragma once

#include <algorithm>
#include <cmath>

#include "rules/loop.hpp"

namespace permissible::rules {

/// With so many rows and rounds columns of few values share codes; finding them takes the time of a few rounds.
inline constexpr std::size_t kJointRows = 4096;
inline constexpr int kJointRounds = 20;

inline void join_columns(Rows& rows, const std::vector<ColumnLayout>& layouts, int n_rounds) {
    if (rows.n_rows() < kJointRows || n_rounds < kJointRounds) return;
    std::vector<int> bins;
    for (const ColumnLayout& layout : layouts) bins.push_back(layout.n_bins);
    rows.join(bins);
}

/// Of a row that is taken with probability p the curvature over p is at most this times the size of a sure weight.
inline constexpr double kLargestBend = 3.25;

/// The size of a weight (RowDraw) from which on a row is surely taken. With their mean over the share about that share
/// of the rows is taken, fewer where few of them have most of the weight. It is rounded up to four bits, so that the
/// next round seldom has another one (step.py asks for histograms ahead).
inline double sure_size(const Rows& rows, const FitState& now, double share) {
    const double curvature = rows.two_sums() ? now.curvature : 0.0;
    const double sizes = std::sqrt(now.weight * now.weight + 0.1 * curvature * curvature);
    int exponent = 0;
    const double mantissa = std::frexp(sizes / (share * rows.units()), &exponent);
    return std::ldexp(std::ceil(16.0 * mantissa) / 16.0, exponent);
}

inline HistogramRequest search_request(const Rows& rows, const FitState& now, double share, uint64_t seed) {
    const Bounds bounds = rows.passes().bounds(now.low_state, now.high_state, 0.0);
    const double sample = rows.largest_sample(), threshold = share < 1.0 ? sure_size(rows, now, share) : 0.0;
    const HistogramGrids grids =
        histogram_grids(std::max(bounds.weight * sample, threshold),
                        std::max(bounds.curvature * sample, kLargestBend * threshold), rows.units(), rows.two_sums());
    return {grids.weight, grids.curvature, threshold, seed};
}

/// The edge of a rule over all rows, not yet divided by the sum of weights.
inline double edge_of(Rows& rows, const FitState& now, const RuleMask& rule) {
    const double bound = rows.passes().bounds(now.low_state, now.high_state, 0.0).weight * rows.largest_sample();
    const double grid = grid_of_bits(bound, kSingleBits);
    const auto [inside, all] = rows.signed_weights_around(rule, grid);
    return std::fabs(static_cast<double>(2 * inside - all) / grid);
}

}  // namespace permissible::rules
