// Growing a rule: greedy monomials (mathematics.md section 5). The best literals of `beam`
// columns start a rule each; both a literal and its negation are completed, since they tie at first and continue
// differently.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/large_pages.hpp"
#include "rules/rows.hpp"
#include "rules/search/search.hpp"

namespace permissible::rules {

struct GrowOptions {
    int max_literals = 1;
    int beam = 1;
    bool two_values = true;
    double l2 = 0.0;
    double share = 1.0;      // of the rows that a search looks at, about
    bool intervals = false;  // an ordered column may stand twice in a rule: a < x <= b
    double noise = 0.0;      // variance of the draws by which literals are compared (search.hpp)
};

RuleMask mask_of(const std::vector<Candidate>& literals);

struct GrownRule {
    std::vector<Candidate> literals;  // empty: no column has a literal
    double decrease = 0.0;
    double weight_in = 0.0, weight_all = 0.0;        // G, real values on the searched rows
    double curvature_in = 0.0, curvature_all = 0.0;  // K

    double edge() const { return std::fabs(2.0 * weight_in - weight_all); }
};

using Sums = LargeVector<int64_t>;

/// Buffers of a search, kept between rounds: clearing and allocating them would cost as much as a small histogram.
struct SearchSums {
    Sums all, kept, left, deeper;
};

/// A literal is added only if it gains more than this fraction; less is rounding.
inline constexpr double kImprovement = 1e-9;

GrownRule grow_rule(Rows& rows, const std::vector<ColumnLayout>& layouts, const GrowOptions& options,
                    const HistogramRequest& request, double total_curvature, SearchSums& buffers);

}  // namespace permissible::rules
