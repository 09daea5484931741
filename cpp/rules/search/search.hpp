// The best literal of each column, from a histogram. The criterion is the second-order decrease of the surrogate for
// the values that the rule will take (mathematics.md section 5):
//
//   two values (the constant is refitted with the rule)   D = (G_in^2 / (K_in + l2) + G_out^2 / (K_out + l2)) / 2
//   one value (h = +-1, coefficient d on one side, -d on the other)   D = (G_in - G_out)^2 / (2 (K + 2 l2))
//
// with G = sum of y w and K = sum of curvatures on a side. "In" are the rows that the rule so far covers and the
// literal keeps; "out" all the others. Where K + l2 is 0 (a loss that is linear beyond some score) the second order
// is undefined, and |G| is used in place of G^2 / K: the larger edge wins. Ties: lowest column, then lowest code; an
// equality before a set.
//
// With `noise` literals are compared by sqrt(2 D / noise) + z instead, see draws.hpp.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/search/draws.hpp"

namespace permissible::rules {

enum class Test : uint8_t { at_most = 0, above = 1, missing = 2, present = 3, in = 4, not_in = 5 };

struct ColumnLayout {
    bool categorical = false;
    int n_bins = 0;  // value codes 0 .. n_bins-1 (a categorical column may also hold 254 = other)
    bool has_missing = false;
    uint64_t key = 0;  // of its draws: the same for a copy of the column
};

/// What each category after the first must bring to a set, in units of the loss (nats for the logistic one): choosing
/// it is fitting one more parameter, and a parameter fits noise by half a unit on average (Akaike's count, for the best
/// of many).
inline constexpr double kCategoryCost = 1.0;

/// Twice the decrease of a side with sum of y w `weight` and curvature `curvature`.
inline double second_order(double weight, double curvature) {
    const double quotient = weight * weight / curvature;  // computed always, so that loops over cuts need no branch
    return curvature > 0.0 ? quotient : std::fabs(weight);
}

struct Criterion {
    bool two_values = true;
    double l2 = 0.0;
    double weight_unit = 1.0;     // real value of one unit of G
    double curvature_unit = 1.0;  // real value of one unit of K
    int64_t total_weight = 0;     // G over all rows, in units
    int64_t total_curvature = 0;  // K over all rows, in units (one value: only a positive constant is needed)
    double noise = 0.0;           // variance of the draws, in units of the loss; 0: none
    uint64_t seed = 0;            // of the draws: the round, and the literals of the rule so far

    double decrease(int64_t weight_in, int64_t curvature_in) const {
        if (!two_values) {
            const double edge = static_cast<double>(2 * weight_in - total_weight) * weight_unit;
            return 0.5 * second_order(edge, static_cast<double>(total_curvature) * curvature_unit + 2.0 * l2);
        }
        const double w_in = static_cast<double>(weight_in) * weight_unit;
        const double w_out = static_cast<double>(total_weight - weight_in) * weight_unit;
        const double k_in = static_cast<double>(curvature_in) * curvature_unit + l2;
        const double k_out = static_cast<double>(total_curvature - curvature_in) * curvature_unit + l2;
        return 0.5 * (second_order(w_in, k_in) + second_order(w_out, k_out));
    }
};

struct Candidate {
    double decrease = -1.0;  // negative: the column has no candidate
    double score = -4.0;     // what it is compared by
    int column = -1;
    Test test = Test::at_most;
    int code = 0;           // the cut of at_most and above
    bool missing = false;   // whether the literal covers a missing value
    int64_t weight_in = 0;  // G and K of the rows that the extended rule covers, in units
    int64_t curvature_in = 0;
    std::array<uint8_t, 256> members{};

    void fill_members();
};

/// Whether literals are those of a column and its copy.
inline bool same_sums(const Candidate& a, const Candidate& b) {
    return a.weight_in == b.weight_in && a.curvature_in == b.curvature_in;
}

/// The best candidate of each column that has one; `sums` is (columns, n_sums, 256) over the rows that the rule so far
/// covers: weights, then curvatures unless the criterion has one value; or words with both (histogram/packed.hpp). At
/// the first literal (`oriented` false) a literal and its negation tie, and only the first of the two is listed.
/// Columns in `used` are skipped. So many as are `wanted` come sorted, a copy of one after it, which does not count; 0:
/// all.
std::vector<Candidate> best_literals(const std::vector<ColumnLayout>& layouts, const int64_t* sums, std::size_t n_sums,
                                     const Criterion& criterion, bool oriented, const std::vector<int>& used,
                                     int wanted = 0);

}  // namespace permissible::rules
