// Stumps from packed histograms: see stumps.hpp.
#include "mcboost/stumps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "common/grids.hpp"
#include "common/lanes.hpp"
#include "common/parallel.hpp"
#include "histogram/packed_classes.hpp"
#include "mcboost/splits.hpp"

namespace permissible::mcboost {

namespace {

const double* term_of(const State& state, int term, int outputs) {
    return term < outputs ? state.gradient.data() + static_cast<std::size_t>(term) * state.rows()
                          : state.curvature.data();
}

/// For every code of a column: the squares of the sums up to it and above it, and the gain of splitting there,
/// |sum w|^2 / (sum h + l2) of each side less that of all, w the gradients and h the curvature.
struct Candidates {
    double left_squares[256], right_squares[256], gain[256];
};

inline double sum_of(int64_t cells, double unit) { return static_cast<double>(cells) * unit; }

/// Adds the squares of one term's sums on both sides. Grids are powers of two, so the units of the sums multiply as
/// exactly as grids divide.
PERMISSIBLE_WIDE_CLONES void add_squares(const int64_t* up_to, int64_t total, double unit, int count,
                                         Candidates& found) {
    for (int k = 0; k < count; ++k) {
        const double left = sum_of(up_to[k], unit), right = sum_of(total - up_to[k], unit);
        found.left_squares[k] += left * left;
        found.right_squares[k] += right * right;
    }
}

/// gain = score of the left side + score of the right side - that of all; nothing where a side has no curvature.
PERMISSIBLE_WIDE_CLONES void set_gains(const int64_t* up_to, int64_t total, double unit, double l2, double parent,
                                       int count, Candidates& found) {
    for (int k = 0; k < count; ++k) {
        const int64_t on_left = up_to[k], on_right = total - on_left;
        const double left = sum_of(on_left, unit), right = sum_of(on_right, unit);
        const double gain =
            found.left_squares[k] / (left + l2 + 1e-12) + found.right_squares[k] / (right + l2 + 1e-12) - parent;
        found.gain[k] = on_left > 0 && on_right > 0 ? gain : 0.0;
    }
}

/// Which rows go left: those whose code in byte `lane` of their eight is at most `last`, or is `lost`.
struct SideOf {
    const uint8_t* block;
    int lane;
    uint64_t last, lost;

    inline __attribute__((always_inline)) uint64_t operator()(std::size_t i) const {
        uint64_t codes;
        std::memcpy(&codes, block + i * 8, sizeof codes);
        const uint64_t code = (codes >> (8 * lane)) & 255;
        return static_cast<uint64_t>(code <= last) | static_cast<uint64_t>(code == lost);
    }
};

/// The sides of some rows, and exact sums of two terms over all of them, over the left ones, and of their size.
PERMISSIBLE_WIDE_CLONES void sides_and_sums(const SideOf& side, const double* x, const double* y, double x_grid,
                                            double y_grid, std::size_t count, uint8_t* __restrict left, SideSums& of_x,
                                            SideSums& of_y) {
    const SideOf side_of = side;
    SideSums sums_x, sums_y;
    for (std::size_t i = 0; i < count; ++i) {
        const uint64_t on_left = side_of(i);
        const int64_t mask = -static_cast<int64_t>(on_left);
        left[i] = static_cast<uint8_t>(on_left);
        sums_x.add(rounded(x[i] * x_grid), mask);
        sums_y.add(rounded(y[i] * y_grid), mask);
    }
    of_x.merge(sums_x);
    of_y.merge(sums_y);
}

/// The same sums of one term whose sides are known.
PERMISSIBLE_WIDE_CLONES void side_sums(const uint8_t* left, const double* x, double grid, std::size_t count,
                                       SideSums& out) {
    SideSums sums;
    for (std::size_t i = 0; i < count; ++i) sums.add(rounded(x[i] * grid), -static_cast<int64_t>(left[i]));
    out.merge(sums);
}

/// The largest size, by the bits of the numbers: integers compare as the non-negative doubles they are.
PERMISSIBLE_WIDE_CLONES double largest_size(const double* x, std::size_t count) {
    int64_t top = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int64_t bits = std::bit_cast<int64_t>(x[i]) & 0x7FFFFFFFFFFFFFFF;
        top = bits > top ? bits : top;
    }
    return std::bit_cast<double>(top);
}

}  // namespace

bool StumpTest::goes_left(int code_of_row) const {
    return column < 0 || (code_of_row == kMissingCode ? missing_left : code_of_row <= code);
}

std::vector<const int64_t*> columns_of(const int64_t* cells, int columns, int width) {
    std::vector<const int64_t*> found(columns);
    for (int c = 0; c < columns; ++c) found[c] = cells + static_cast<std::size_t>(c) * 256 * width;
    return found;
}

StumpTest best_stump(const Codes& codes, const std::vector<const int64_t*>& cells, double l2, const StumpGrids& grids) {
    StumpTest best;
    const int width = grids.width(), h = grids.outputs;
    std::vector<double> units;
    for (const double grid : grids.coarse) units.push_back(1.0 / grid);
    std::vector<int64_t> total(width), up_to(static_cast<std::size_t>(width) * 256);
    Candidates found;
    for (int c = 0; c < codes.columns; ++c) {
        const int64_t* cell = cells[c];
        std::fill(total.begin(), total.end(), 0);
        for (int k = 0; k < 256; ++k)
            for (int t = 0; t < width; ++t) total[t] += cell[k * width + t];
        const int64_t* missing = cell + kMissingCode * width;
        const int count = codes.bins[c];
        double squares = 0;
        for (int r = 0; r < h; ++r) squares += sum_of(total[r], units[r]) * sum_of(total[r], units[r]);
        const double parent = squares / (sum_of(total[h], units[h]) + l2 + 1e-12);
        for (const bool missing_left : {false, true}) {
            if (missing_left && missing[h] == 0) break;
            for (int t = 0; t <= h; ++t) {
                int64_t sum = missing_left ? missing[t] : 0;
                for (int k = 0; k < count; ++k) up_to[t * 256 + k] = sum += cell[k * width + t];
            }
            std::fill(found.left_squares, found.left_squares + count, 0.0);
            std::fill(found.right_squares, found.right_squares + count, 0.0);
            for (int r = 0; r < h; ++r) add_squares(&up_to[r * 256], total[r], units[r], count, found);
            set_gains(&up_to[h * 256], total[h], units[h], l2, parent, count, found);
            for (int k = 0; k < count; ++k)
                if (found.gain[k] > best.gain * (1 + 1e-12) && cell[k * width + h] != 0)
                    best = {found.gain[k], c, k, missing_left};
        }
    }
    return best;
}

bool packed_stump_applies(const Codes& codes, const TreeLimits& growth, bool shared_rows, std::size_t rows) {
    const bool stump = growth.max_literals == 1 || (growth.max_literals == 0 && growth.max_leaf_nodes == 2);
    if (!stump || growth.random_thresholds || growth.column_share < 1.0 || shared_rows || rows < kPackedRows)
        return false;
    if (growth.min_leaf_weight > 1.0) return false;
    return std::none_of(codes.categorical, codes.categorical + codes.columns, [](uint8_t c) { return c != 0; });
}

std::vector<double> largest_terms(const State& state, int outputs) {
    if (state.sizes().size() == static_cast<std::size_t>(outputs) + 1) return state.sizes();
    std::vector<double> largest;
    for (int t = 0; t <= outputs; ++t) largest.push_back(largest_size(term_of(state, t, outputs), state.rows()));
    return largest;
}

StumpGrids stump_grids(const std::vector<double>& largest, std::size_t rows) {
    if (largest.size() < 2) throw std::invalid_argument("one size per gradient and one of the curvature");
    StumpGrids grids{{}, {}, static_cast<int>(largest.size()) - 1};
    for (const double size : largest) {
        grids.coarse.push_back(packed_grid(size));
        grids.fine.push_back(tree_grid(size, rows));
    }
    return grids;
}

PackedTerms packed_terms(const State& state, const StumpGrids& grids) {
    PackedTerms terms{{}, grids.coarse};
    for (int t = 0; t < grids.count(); ++t) terms.values.push_back(term_of(state, t, grids.outputs));
    return terms;
}

std::vector<int64_t> stump_cells(const Codes& codes, const State& state, const StumpGrids& grids) {
    return packed_histograms(lanes_of(codes), packed_terms(state, grids), state.threads());
}

std::vector<SideSums> stump_sums(const Codes& codes, const State& state, const StumpTest& test, const StumpGrids& grids,
                                 uint8_t* left) {
    std::vector<SideSums> sums(grids.count());
    const std::size_t n = codes.rows;
    // Without a test every row is on the left: no code is above 255.
    const bool tested = test.column >= 0;
    const int column = std::max(0, test.column);
    const uint64_t last = tested ? test.code : 255, lost = test.missing_left ? kMissingCode : 256;
    for (std::size_t begin = 0; begin < n; begin += kStrip) {
        const std::size_t rows = std::min(n - begin, kStrip);
        const SideOf side{codes.blocks + (column / 8 * n + begin) * 8, column % 8, last, lost};
        sides_and_sums(side, term_of(state, 0, grids.outputs) + begin, term_of(state, 1, grids.outputs) + begin,
                       grids.fine[0], grids.fine[1], rows, left + begin, sums[0], sums[1]);
        for (int t = 2; t < grids.count(); ++t)
            side_sums(left + begin, term_of(state, t, grids.outputs) + begin, grids.fine[t], rows, sums[t]);
    }
    return sums;
}

Tree stump_of(const StumpTest& test, const std::vector<SideSums>& sums, double l2, const StumpGrids& grids) {
    Tree tree;
    const int outputs = tree.outputs = grids.outputs;
    if (test.column >= 0) {
        tree.column = {test.column};
        tree.code = {test.code};
        tree.left = {~0};
        tree.right = {~1};
        tree.mask.emplace_back();
        for (int k = 0; k < 256; ++k)
            if (test.goes_left(k)) insert(tree.mask[0], k);
    }
    double agreed = 0, size = 0, largest = 0;
    for (const bool on_left : {true, false}) {
        const SideSums& h = sums[outputs];
        const double bend = static_cast<double>(on_left ? h.left : h.all - h.left) / grids.fine[outputs] + l2;
        for (int r = 0; r < outputs; ++r) {
            const double slope =
                static_cast<double>(on_left ? sums[r].left : sums[r].all - sums[r].left) / grids.fine[r];
            tree.value.push_back(bend > 0 ? -slope / bend : 0.0);
            agreed -= slope * tree.value.back();
            largest = std::max(largest, std::abs(tree.value.back()));
            if (on_left) size += static_cast<double>(sums[r].size) / grids.fine[r];
        }
        if (test.column < 0) break;
    }
    tree.edge = size > 0 && largest > 0 ? agreed / (size * largest) : 0.0;
    return tree;
}

std::vector<double> two_moves(const State& state, const Tree& stump, double rate) {
    const int m = state.classes(), outputs = m - 1;
    std::vector<double> moves(2 * static_cast<std::size_t>(m), 0.0);
    for (const int side : {0, 1}) {
        const int leaf = side == 1 || stump.leaves() == 1 ? 0 : 1;  // leaf 0 is the left one
        for (int r = 0; r < outputs; ++r) {
            const double step =
                rate * stump.value[static_cast<std::size_t>(leaf) * outputs + r] * state.coordinate_scale(r);
            for (int j = 0; j <= r; ++j) moves[2 * j + side] += step;
            moves[2 * (r + 1) + side] -= (r + 1) * step;
        }
    }
    return moves;
}

Tree grow_packed_stump(const Codes& codes, const Bundles* bundles, const State& state, const TreeLimits& growth,
                       int outputs, uint8_t* left) {
    const StumpGrids grids = stump_grids(largest_terms(state, outputs), codes.rows);
    const bool bundled =
        bundles && bundles->help() && outputs == 1;  // more terms of a joint lane leave the first cache
    const CodeLanes lanes = bundled ? bundles->lanes() : lanes_of(codes);
    const std::vector<int64_t> cells = packed_histograms(lanes, packed_terms(state, grids), state.threads());
    std::vector<int64_t> own;
    const auto columns = bundled ? bundles->by_column(cells, grids.width(), own)
                                 : columns_of(cells.data(), codes.columns, grids.width());
    const StumpTest test = best_stump(codes, columns, growth.l2, grids);
    return stump_of(test, stump_sums(codes, state, test, grids, left), growth.l2, grids);
}

}  // namespace permissible::mcboost
