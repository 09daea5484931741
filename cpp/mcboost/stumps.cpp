// Histograms of packed words: see stumps.hpp. Sums of integers only, so threads and the order of rows do not show.
#include "mcboost/stumps.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/exact_sum.hpp"
#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

constexpr int kMissing = 255, kLanes = 8, kBits = 17;
constexpr std::size_t kFlush = 8192;  // rows until 17-bit terms could fill their 31 bits
using Cells = std::vector<int64_t>;   // (columns padded to 8, 256, width of the terms)

constexpr double kRound = 6755399441055744.0;       // 1.5 * 2^52: adding it rounds to an integer ...
constexpr int64_t kRoundBits = 0x4338000000000000;  // ... found in the low bits

inline int64_t rounded(double x) {
    const double shifted = x + kRound;
    int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - kRoundBits;
}

PERMISSIBLE_CLONES void pack(const double* high, const double* low, double grid_high, double grid_low,
                             std::size_t begin, std::size_t end, int64_t* out) {
    if (low)
        for (std::size_t i = begin; i < end; ++i)
            out[i] = (rounded(high[i] * grid_high) << 32) + rounded(low[i] * grid_low);
    else
        for (std::size_t i = begin; i < end; ++i) out[i] = rounded(high[i] * grid_high) << 32;
}

/// Adds the packed words of some rows to the first four columns of a block.
PERMISSIBLE_CLONES void histogram_of_four(const uint8_t* block, const int64_t* packed, std::size_t begin,
                                          std::size_t end, int64_t* cells) {
    for (std::size_t i = begin; i < end; ++i) {
        uint32_t codes;
        std::memcpy(&codes, block + i * kLanes, sizeof codes);
        const int64_t word = packed[i];
        cells[0 * 256 + (codes & 255)] += word;
        cells[1 * 256 + ((codes >> 8) & 255)] += word;
        cells[2 * 256 + ((codes >> 16) & 255)] += word;
        cells[3 * 256 + (codes >> 24)] += word;
    }
}

/// Adds the packed words of some rows to one block of eight columns.
PERMISSIBLE_CLONES void histogram(const uint8_t* block, const int64_t* packed, std::size_t begin, std::size_t end,
                                  int64_t* cells) {
    for (std::size_t i = begin; i < end; ++i) {
        uint64_t codes;
        std::memcpy(&codes, block + i * kLanes, sizeof codes);
        const int64_t word = packed[i];
        cells[0 * 256 + (codes & 255)] += word;
        cells[1 * 256 + ((codes >> 8) & 255)] += word;
        cells[2 * 256 + ((codes >> 16) & 255)] += word;
        cells[3 * 256 + ((codes >> 24) & 255)] += word;
        cells[4 * 256 + ((codes >> 32) & 255)] += word;
        cells[5 * 256 + ((codes >> 40) & 255)] += word;
        cells[6 * 256 + ((codes >> 48) & 255)] += word;
        cells[7 * 256 + (codes >> 56)] += word;
    }
}

/// Moves packed sums into wide ones and clears them. The low half is a signed 32-bit sum: it splits off cleanly.
void flush(int64_t* cells, int64_t* wide, int width) {
    for (int k = 0; k < kLanes * 256; ++k) {
        const auto low = static_cast<int64_t>(static_cast<int32_t>(cells[k] & 0xFFFFFFFF));
        wide[k * width] += (cells[k] - low) >> 32;
        wide[k * width + 1] += low;
        cells[k] = 0;
    }
}

/// Histograms of one block of columns over words of two packed terms each; `width` terms in all, two for each word.
void histogram_of_block(const Codes& codes, const std::vector<int64_t>& packed, std::size_t block, int width,
                        int64_t* wide) {
    int64_t cells[kLanes * 256] = {};
    const uint8_t* bytes = codes.blocks + block * codes.rows * kLanes;
    for (int word = 0; word < width / 2; ++word) {
        const int64_t* words = packed.data() + static_cast<std::size_t>(word) * codes.rows;
        for (std::size_t begin = 0; begin < codes.rows; begin += kFlush) {
            const std::size_t end = std::min(codes.rows, begin + kFlush);
            if (codes.columns - static_cast<int>(block) * kLanes <= 4)
                histogram_of_four(bytes, words, begin, end, cells);
            else
                histogram(bytes, words, begin, end, cells);
            flush(cells, wide + 2 * word, width);
        }
    }
}

const double* term_of(const State& state, int term, int outputs) {
    return term < outputs ? state.gradient.data() + static_cast<std::size_t>(term) * state.rows()
                          : state.curvature.data();
}

double score_of(const int64_t* sums, const StumpGrids& grids, double l2) {
    double squares = 0;
    for (int r = 0; r < grids.outputs; ++r) {
        const double sum = static_cast<double>(sums[r]) / grids.coarse[r];
        squares += sum * sum;
    }
    return squares / (static_cast<double>(sums[grids.outputs]) / grids.coarse[grids.outputs] + l2 + 1e-12);
}

void sides(const uint8_t* codes, const uint8_t* goes_left, std::size_t begin, std::size_t end, uint8_t* left) {
    for (std::size_t i = begin; i < end; ++i) left[i] = goes_left[codes[i * kLanes]];
}

/// Exact sums of a term over all rows and over those on the left, and of its size.
PERMISSIBLE_CLONES void side_sums(const uint8_t* left, const double* x, double grid, std::size_t count, SideSums* out) {
    int64_t all = 0, on_left = 0, size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int64_t term = rounded(x[i] * grid);
        all += term;
        size += term < 0 ? -term : term;
        on_left += term & -static_cast<int64_t>(left[i]);
    }
    *out = {all, on_left, size};
}

/// The largest size, by the bits of the numbers: integers compare as the non-negative doubles they are.
PERMISSIBLE_CLONES double largest_size(const double* x, std::size_t count) {
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
    return column < 0 || (code_of_row == kMissing ? missing_left : code_of_row <= code);
}

StumpTest best_stump(const Codes& codes, const Cells& cells, double l2, const StumpGrids& grids) {
    StumpTest best;
    const int width = grids.width(), h = grids.outputs;
    std::vector<int64_t> total(width), left(width), right(width);
    for (int c = 0; c < codes.columns; ++c) {
        const int64_t* cell = &cells[static_cast<std::size_t>(c) * 256 * width];
        std::fill(total.begin(), total.end(), 0);
        for (int k = 0; k < 256; ++k)
            for (int t = 0; t < width; ++t) total[t] += cell[k * width + t];
        const int64_t* missing = cell + kMissing * width;
        const bool has_missing = missing[h] != 0;
        const double parent = score_of(total.data(), grids, l2);
        for (const bool missing_left : {false, true}) {
            if (missing_left && !has_missing) break;
            for (int t = 0; t < width; ++t) left[t] = missing_left ? missing[t] : 0;
            for (int k = 0; k < codes.bins[c]; ++k) {
                if (cell[k * width + h] == 0) continue;
                for (int t = 0; t < width; ++t) left[t] += cell[k * width + t], right[t] = total[t] - left[t];
                if (left[h] <= 0 || right[h] <= 0) continue;
                const double gain = score_of(left.data(), grids, l2) + score_of(right.data(), grids, l2) - parent;
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
    std::vector<double> largest;
    for (int t = 0; t <= outputs; ++t) largest.push_back(largest_size(term_of(state, t, outputs), state.rows()));
    return largest;
}

StumpGrids stump_grids(const std::vector<double>& largest, std::size_t rows) {
    StumpGrids grids{{}, {}, static_cast<int>(largest.size()) - 1};
    int bits = 0;
    while ((std::size_t{1} << bits) < rows) ++bits;
    for (const double size : largest) {
        const double grid = grid_for(size);
        grids.coarse.push_back(std::ldexp(grid, kBits - 52));
        grids.fine.push_back(std::ldexp(grid, -std::max(0, bits - 10)));
    }
    return grids;
}

std::vector<int64_t> stump_cells(const Codes& codes, const State& state, const StumpGrids& grids) {
    const std::size_t n = codes.rows, blocks = (static_cast<std::size_t>(codes.columns) + kLanes - 1) / kLanes;
    const int width = grids.width(), count = grids.count();
    static thread_local std::vector<int64_t> packed;
    packed.resize(n * (width / 2));
    std::vector<int64_t>& words = packed;
    Cells cells(blocks * kLanes * 256 * width, 0);
#pragma omp parallel num_threads(state.threads())
    {
#pragma omp for schedule(static)
        for (int word = 0; word < width / 2; ++word) {
            const int first = 2 * word, second = first + 1;
            const bool whole = second < count;
            pack(term_of(state, first, grids.outputs), whole ? term_of(state, second, grids.outputs) : nullptr,
                 grids.coarse[first], whole ? grids.coarse[second] : 0.0, 0, n, words.data() + word * n);
        }
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(blocks); ++b)
            histogram_of_block(codes, words, b, width, &cells[b * kLanes * 256 * width]);
    }
    return cells;
}

void stump_sides(const Codes& codes, const StumpTest& test, std::vector<uint8_t>& left) {
    uint8_t goes_left[256];
    for (int k = 0; k < 256; ++k) goes_left[k] = test.goes_left(k);
    left.resize(codes.rows);
    sides(codes.column(std::max(0, test.column)), goes_left, 0, codes.rows, left.data());
}

std::vector<SideSums> stump_sums(const State& state, const std::vector<uint8_t>& left, const StumpGrids& grids) {
    std::vector<SideSums> sums(grids.count());
    for (int t = 0; t < grids.count(); ++t)
        side_sums(left.data(), term_of(state, t, grids.outputs), grids.fine[t], state.rows(), &sums[t]);
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

Tree grow_packed_stump(const Codes& codes, const State& state, const Growth& growth, int outputs,
                       std::vector<uint8_t>& left) {
    const StumpGrids grids = stump_grids(largest_terms(state, outputs), codes.rows);
    const StumpTest test = best_stump(codes, stump_cells(codes, state, grids), growth.l2, grids);
    stump_sides(codes, test, left);
    return stump_of(test, stump_sums(state, left, grids), growth.l2, grids);
}

}  // namespace permissible::mcboost
