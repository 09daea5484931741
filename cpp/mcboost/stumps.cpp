// Stumps from packed histograms: see stumps.hpp.
#include "mcboost/stumps.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "common/exact_sum.hpp"
#include "common/parallel.hpp"
#include "mcboost/packed.hpp"
#include "mcboost/splits.hpp"

namespace permissible::mcboost {

namespace {

const double* term_of(const State& state, int term, int outputs) {
    return term < outputs ? state.gradient.data() + static_cast<std::size_t>(term) * state.rows()
                          : state.curvature.data();
}

/// The gain of a side. Grids are powers of two, so the units of the sums multiply as exactly as grids divide.
double score_of(const int64_t* sums, const std::vector<double>& units, double l2) {
    const std::size_t outputs = units.size() - 1;
    double squares = 0;
    for (std::size_t r = 0; r < outputs; ++r) {
        const double sum = static_cast<double>(sums[r]) * units[r];
        squares += sum * sum;
    }
    return squares / (static_cast<double>(sums[outputs]) * units[outputs] + l2 + 1e-12);
}

/// left = 1 where the code in byte `lane` of a row's eight is at most `last`, or missing where that goes left.
PERMISSIBLE_WIDE_CLONES void sides(const uint8_t* block, int lane, int last, bool missing_left, std::size_t count,
                                   uint8_t* __restrict left) {
    const auto most = static_cast<uint64_t>(last), lost = missing_left ? uint64_t{kMissingCode} : uint64_t{256};
    for (std::size_t i = 0; i < count; ++i) {
        uint64_t codes;
        std::memcpy(&codes, block + i * kLanes, sizeof codes);
        const uint64_t code = (codes >> (8 * lane)) & 255;
        left[i] = static_cast<uint8_t>((code <= most) | (code == lost));
    }
}

/// Exact sums of a term over all rows and over those on the left, and of its size.
PERMISSIBLE_WIDE_CLONES void side_sums(const uint8_t* left, const double* x, double grid, std::size_t count,
                                       SideSums& out) {
    int64_t all = 0, on_left = 0, size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int64_t term = rounded(x[i] * grid);
        all += term;
        size += term < 0 ? -term : term;
        on_left += term & -static_cast<int64_t>(left[i]);
    }
    out.all += all;
    out.left += on_left;
    out.size += size;
}

/// The largest size, by the bits of the numbers: integers compare as the non-negative doubles they are.
PERMISSIBLE_WIDE_CLONES double largest_size(const double* x, std::size_t count) {
    int64_t top = 0;
    for (std::size_t i = 0; i < count; ++i) {
        int64_t bits;
        std::memcpy(&bits, &x[i], sizeof bits);
        bits &= 0x7FFFFFFFFFFFFFFF;
        top = bits > top ? bits : top;
    }
    double value;
    std::memcpy(&value, &top, sizeof value);
    return value;
}

}  // namespace

bool StumpTest::goes_left(int code_of_row) const {
    return column < 0 || (code_of_row == kMissingCode ? missing_left : code_of_row <= code);
}

StumpTest best_stump(const Codes& codes, const std::vector<int64_t>& cells, double l2, const StumpGrids& grids) {
    StumpTest best;
    const int width = grids.width(), h = grids.outputs;
    std::vector<double> units;
    for (const double grid : grids.coarse) units.push_back(1.0 / grid);
    std::vector<int64_t> total(width), left(width), right(width);
    for (int c = 0; c < codes.columns; ++c) {
        const int64_t* cell = &cells[static_cast<std::size_t>(c) * 256 * width];
        std::fill(total.begin(), total.end(), 0);
        for (int k = 0; k < 256; ++k)
            for (int t = 0; t < width; ++t) total[t] += cell[k * width + t];
        const int64_t* missing = cell + kMissingCode * width;
        const bool has_missing = missing[h] != 0;
        const double parent = score_of(total.data(), units, l2);
        for (const bool missing_left : {false, true}) {
            if (missing_left && !has_missing) break;
            for (int t = 0; t < width; ++t) left[t] = missing_left ? missing[t] : 0;
            for (int k = 0; k < codes.bins[c]; ++k) {
                if (cell[k * width + h] == 0) continue;
                for (int t = 0; t < width; ++t) left[t] += cell[k * width + t], right[t] = total[t] - left[t];
                if (left[h] <= 0 || right[h] <= 0) continue;
                const double gain = score_of(left.data(), units, l2) + score_of(right.data(), units, l2) - parent;
                if (gain > best.gain * (1 + 1e-12)) best = {gain, c, k, missing_left};
            }
        }
    }
    return best;
}

bool packed_stump_applies(const Codes& codes, const Growth& growth, bool shared_rows, std::size_t rows) {
    const bool stump = growth.max_literals == 1 || (growth.max_literals == 0 && growth.max_leaves == 2);
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
    int bits = 0;
    while ((std::size_t{1} << bits) < rows) ++bits;
    for (const double size : largest) {
        const double grid = grid_for(size);
        grids.coarse.push_back(std::ldexp(grid, kPackedBits - 52));
        grids.fine.push_back(std::ldexp(grid, -std::max(0, bits - 10)));
    }
    return grids;
}

std::vector<int64_t> stump_cells(const Codes& codes, const State& state, const StumpGrids& grids) {
    PackedTerms terms{{}, grids.coarse};
    for (int t = 0; t < grids.count(); ++t) terms.values.push_back(term_of(state, t, grids.outputs));
    return packed_histograms(codes, terms, state.threads());
}

std::vector<SideSums> stump_sums(const Codes& codes, const State& state, const StumpTest& test, const StumpGrids& grids,
                                 uint8_t* left) {
    std::vector<SideSums> sums(grids.count());
    const std::size_t n = codes.rows;
    const uint8_t* block = codes.blocks + static_cast<std::size_t>(std::max(0, test.column) / kLanes) * n * kLanes;
    for (std::size_t begin = 0; begin < n; begin += kStrip) {
        const std::size_t rows = std::min(n - begin, kStrip);
        if (test.column >= 0)
            sides(block + begin * kLanes, test.column % kLanes, test.code, test.missing_left, rows, left + begin);
        else
            std::fill(left + begin, left + begin + rows, uint8_t{1});
        for (int t = 0; t < grids.count(); ++t)
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
        Mask mask{};
        for (int k = 0; k < 256; ++k)
            if (test.goes_left(k)) mask[k >> 3] |= static_cast<uint8_t>(1u << (k & 7));
        tree.mask = {mask};
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

Tree grow_packed_stump(const Codes& codes, const State& state, const Growth& growth, int outputs, uint8_t* left) {
    const StumpGrids grids = stump_grids(largest_terms(state, outputs), codes.rows);
    const StumpTest test = best_stump(codes, stump_cells(codes, state, grids), growth.l2, grids);
    return stump_of(test, stump_sums(codes, state, test, grids, left), growth.l2, grids);
}

}  // namespace permissible::mcboost
