// Columns of zeros and ones of which no row holds two ones (indicators of one category) become one categorical column:
// code 0 where all are zero, else 1 + the place of the column that is one. One set of codes then splits what would take
// a split for each column, and a row is added to one histogram instead of many.
#pragma once

#include <vector>

#include "trees/boosted/codes.hpp"

namespace permissible::boosted {

inline constexpr std::size_t kFewestMembers = 3, kMostMembers = 250;

/// Groups of columns that exclude each other on these rows, in the order of their first columns.
std::vector<std::vector<int>> find_bundles(const Codes& codes, const std::vector<Column>& columns);

}  // namespace permissible::boosted
