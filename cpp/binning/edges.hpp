// Thresholds of one numeric column: every midpoint if there are few distinct values, else bins of equal weight.
#pragma once

#include <cstdint>
#include <vector>

#include "common/columns.hpp"

namespace permissible::binning {

/// Rows to use: all of them, or those of an index; and their weights (integers, so that sums do not depend on order).
struct Sample {
    const int64_t* rows = nullptr;     // nullptr: 0 .. count-1
    const int64_t* weights = nullptr;  // nullptr: each row has weight `unit`; else one weight per sampled row
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

/// The `limit`-th smallest distinct hash (the largest possible number if there are no more than `limit`).
uint64_t largest_kept(const uint64_t* hashes, size_t n, size_t limit);

}  // namespace permissible::binning
