// Single passes over the columns before they are binned: what is missing or infinite, few distinct values, row hashes.
#pragma once

#include <cstdint>
#include <vector>

#include "common/columns.hpp"

namespace permissible::binning {

struct Findings {
    bool missing = false;
    bool infinite = false;
};

/// For each column, whether a value is missing and whether one is infinite.
std::vector<Findings> survey(const std::vector<ColumnView>& columns, int n_threads);

/// The sorted distinct values of a column; if there are more than the limit, only some of them.
struct Distinct {
    std::vector<double> values;
    bool complete;
};

/// The distinct values of each column over the given rows (nullptr: all), up to a limit of at most 255.
std::vector<Distinct> collect_distinct(const std::vector<ColumnView>& columns, const int64_t* rows, size_t n_rows,
                                       size_t limit, int n_threads);

/// A hash of each row's content and the seed: the same for equal rows. A value is hashed with its column's
/// `column_hash`, so the order of the columns does not matter, but the column of a value does. Categories hash by
/// `category_hash[j]`, one entry a category.
void hash_rows(const std::vector<ColumnView>& columns, const uint64_t* column_hash,
               const std::vector<const uint64_t*>& category_hash, uint64_t seed, uint64_t* hashes, int n_threads);

}  // namespace permissible::binning
