// Columns of zeros and ones of which no row holds two ones (indicators of one category) are summed as one column: code
// 0 where all are zero, else 1 + the place of the column that is one. A row is added to one histogram instead of many.
// The law: a split tests one of the columns and has the worth that it has without the bundle, so that the model is the
// same.
#pragma once

#include <vector>

#include "trees/boosted/codes.hpp"

namespace permissible::boosted {

inline constexpr std::size_t kFewestMembers = 3, kMostMembers = 250;

/// Groups of columns that exclude each other on all these rows, in the order of their first columns.
std::vector<std::vector<int>> find_bundles(const std::vector<const Codes*>& codes, const std::vector<Column>& columns);

/// The columns outside of the groups, in order, then one a group: those of `Codes(codes, groups, threads)`.
std::vector<Column> bundled(const std::vector<Column>& columns, const std::vector<std::vector<int>>& groups);

}  // namespace permissible::boosted
