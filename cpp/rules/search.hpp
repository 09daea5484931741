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
// With `noise` literals are compared by sqrt(2 D / noise) + z instead. Under the hypothesis that a literal says
// nothing, sqrt(2 D) is about the absolute value of a standard normal variable, so this is D drawn anew within its own
// error, and literals that the rows cannot tell apart take turns from round to round. The draw z is a hash of the round
// and of the two sums, the same for a literal and its negation, for both orders of the classes, for a copy of the
// column, and wherever the column stands.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/mixing.hpp"

namespace permissible::rules {

enum class Test : uint8_t { at_most = 0, above = 1, missing = 2, present = 3, in = 4, not_in = 5 };

struct ColumnLayout {
    bool categorical = false;
    int n_bins = 0;  // value codes 0 .. n_bins-1 (a categorical column may also hold 254 = other)
    bool has_missing = false;
};

/// What each category after the first must bring to a set, in units of the loss (nats for the logistic one): choosing
/// it is fitting one more parameter, and a parameter fits noise by half a unit on average (Akaike's count, for the best
/// of many).
inline constexpr double kCategoryCost = 1.0;

/// The square root of 12: four uniform numbers between -1/2 and 1/2 have variance 1/3 and a sum of at most 2.
inline constexpr double kLargestDraw = 3.4641016151377544;

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
    double share = 1.0;           // of the rows that these sums are over
    double noise = 0.0;           // variance of the draws, in units of the loss; 0: none
    uint64_t seed = 0;            // of the round

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

    /// What literals are compared by; the decrease itself without noise.
    double score(double decrease, int64_t weight_in, int64_t curvature_in) const {
        return noise > 0.0 ? without_draw(decrease) + draw(weight_in, curvature_in) : decrease;
    }

    double without_draw(double decrease) const { return std::sqrt(2.0 * decrease / noise); }

    /// A number with mean 0, variance 1 and size at most `kLargestDraw`: the sum of four uniform ones. Sums that are
    /// nearly equal share it, so that it depends neither on rounding nor on the unit of the scores.
    double draw(int64_t weight_in, int64_t curvature_in) const {
        if (2 * curvature_in > total_curvature) {
            weight_in = total_weight - weight_in;
            curvature_in = total_curvature - curvature_in;
        }
        const double all = static_cast<double>(total_curvature) * curvature_unit;
        if (!(all > 0.0)) return 0.0;
        const double w = std::fabs(static_cast<double>(weight_in)) * weight_unit / std::sqrt(noise * all);
        const double k = static_cast<double>(curvature_in) * curvature_unit / all;
        const auto part = [](double sum, double steps) { return static_cast<uint64_t>(std::llrint(steps * sum)); };
        const uint64_t h = mixed(mixed(mixed(seed) ^ part(w, 256.0)) ^ part(k, 4096.0));
        const uint64_t sum = (h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) + (h >> 48);
        return (static_cast<double>(sum) - 2.0 * 0xffff) * kLargestDraw / (2.0 * 0xffff);
    }
};

struct Candidate {
    double decrease = -1.0;  // negative: the column has no candidate
    double score = -4.0;     // what it is compared by, the decrease or more than -`kLargestDraw`
    int column = -1;
    Test test = Test::at_most;
    int code = 0;           // the cut of at_most and above
    bool missing = false;   // whether the literal covers a missing value
    int64_t weight_in = 0;  // G and K of the rows that the extended rule covers, in units
    int64_t curvature_in = 0;
    std::array<uint8_t, 256> members{};

    void fill_members();
};

/// The best candidate of one column; `sums` is (n_sums, 256) over the rows that the rule so far covers. At the first
/// literal
/// (`oriented` false) a literal and its negation tie, and only the first of the two is listed.
Candidate best_of_column(const ColumnLayout& layout, int column, const int64_t* sums, const Criterion& criterion,
                         bool oriented);

/// One candidate per column; columns in `used` are skipped.
std::vector<Candidate> best_literals(const std::vector<ColumnLayout>& layouts, const int64_t* sums,
                                     const Criterion& criterion, bool oriented, const std::vector<int>& used);

}  // namespace permissible::rules
