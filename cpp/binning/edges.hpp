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

/// Buffers of one thread, reused from column to column.
struct EdgeBuffers {
    std::vector<double> values;
    std::vector<uint64_t> keys, swap;
    std::vector<uint32_t> order, order_swap;
    std::vector<double> distinct;
    std::vector<int64_t> mass;
};

struct Edges {
    std::vector<double> thresholds;
    bool has_missing = false;
    bool exact = false;
};

/// Columns that one call reads together: a cache line of a row-major matrix.
inline constexpr size_t kGroup = 8;

/// The edges of `n_columns` columns (at most kGroup, for the buffers' sake).
void find_edges(const ColumnView* columns, size_t n_columns, const Sample& sample, int max_bins, EdgeBuffers& buffers,
                Edges* edges);

/// The hash at or below which there are `limit` different ones (the largest number when there are no more than that).
uint64_t largest_kept(const uint64_t* hashes, size_t n, size_t limit);

/// Where bins end: positions i such that a boundary lies between distinct values i and i+1, for equal shares of the
/// weight after heavy values were capped at a bin's share (a heavy value gets a bin of its own and takes no more).
std::vector<size_t> equal_shares(const std::vector<int64_t>& mass, int max_bins);

}  // namespace permissible::binning
