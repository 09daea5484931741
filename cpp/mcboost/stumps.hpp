// A stump of the logistic loss on many rows, fast: the split is found on packed integer histograms (gradient and
// curvature of a row in one 64-bit word, 18 bits each, eight columns at a time), its two values from the rows
// themselves at full precision.
#pragma once

#include <vector>

#include "histogram/bundles.hpp"
#include "mcboost/state.hpp"
#include "mcboost/trees.hpp"

namespace permissible::mcboost {

/// Rows from which packing is faster; below, every term keeps its 52 bits (trees.cpp).
inline constexpr std::size_t kPackedRows = 16384;

/// Whether the packed search supports the requested growth.
bool packed_stump_applies(const Codes& codes, const TreeLimits& growth, bool shared_rows, std::size_t rows);

/// Two grids for each term of a row (its gradients, then its curvature): a coarse one for the packed search, a fine one
/// for the sums of the chosen sides.
struct StumpGrids {
    std::vector<double> coarse, fine;
    int outputs;
    int count() const { return outputs + 1; }
    int width() const { return (count() + 1) / 2 * 2; }  // terms of a cell, the last one empty where it must be even
};
/// From the largest size of each term, and the number of all rows.
StumpGrids stump_grids(const std::vector<double>& largest, std::size_t rows);
/// The largest sizes of the terms of these rows.
std::vector<double> largest_terms(const State& state, int outputs);

/// Packed sums of all rows: (columns, 256, width).
std::vector<int64_t> stump_cells(const Codes& codes, const State& state, const StumpGrids& grids);

struct StumpTest {
    double gain = 0;
    int column = -1, code = -1;
    bool missing_left = false;
    bool goes_left(int code_of_row) const;
};
/// The best test; `cells` has the sums of each column, (256, width).
StumpTest best_stump(const Codes& codes, const std::vector<const int64_t*>& cells, double l2, const StumpGrids& grids);
/// Columns one after the other, as stump_cells gives them.
std::vector<const int64_t*> columns_of(const int64_t* cells, int columns, int width);

/// 1 for the rows that go left; and of each term the exact sums over all rows, over those on the left, and of its size.
struct SideSums {
    int64_t all = 0, left = 0, size = 0;

    /// `mask` is all ones on the left, else 0.
    inline __attribute__((always_inline)) void add(int64_t term, int64_t mask) {
        all += term;
        left += term & mask;
        size += term < 0 ? -term : term;
    }
    void merge(const SideSums& more) {
        all += more.all;
        left += more.left;
        size += more.size;
    }
};
std::vector<SideSums> stump_sums(const Codes& codes, const State& state, const StumpTest& test, const StumpGrids& grids,
                                 uint8_t* left);

/// The stump with its values and its edge.
Tree stump_of(const StumpTest& test, const std::vector<SideSums>& sums, double l2, const StumpGrids& grids);

/// What a vector stump adds to the score of each class, for the right and for the left side: rate * Y value / 2.
std::vector<double> two_moves(const State& state, const Tree& stump, double rate);

/// All of this for rows in this process: grows a stump on state.gradient (one coordinate, or all of them) and
/// state.curvature; `left` (n) gets 1 for the rows that go left. `bundles` may be null.
Tree grow_packed_stump(const Codes& codes, const Bundles* bundles, const State& state, const TreeLimits& growth,
                       int outputs, uint8_t* left);

}  // namespace permissible::mcboost
