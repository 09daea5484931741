// Thresholds of one numeric column: every midpoint when there are few distinct values, equal shares of the weight
// otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "common/columns.hpp"

namespace permissible::binning {

/// Rows to look at: all of them, or those of an index; and what each weighs (integers, so that sums do not depend on
/// order).
struct Sample {
    const int64_t* rows = nullptr;     // nullptr: 0 .. count-1
    const int64_t* weights = nullptr;  // nullptr: each row weighs `unit`; else one weight a row of the sample
    int64_t unit = 1;
    size_t count = 0;
};

struct Edges {
    std::vector<double> thresholds;
    bool has_missing = false;
    bool exact = false;
};

/// The edges of each column.
std::vector<Edges> find_edges(const std::vector<ColumnView>& columns, const Sample& sample, int max_bins,
                              int n_threads);

/// The hash at or below which there are `limit` different ones (the largest number when there are no more than that).
uint64_t largest_kept(const uint64_t* hashes, size_t n, size_t limit);

}  // namespace permissible::binning
