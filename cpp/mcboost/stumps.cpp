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
using Cells = std::vector<int64_t>;   // (columns padded to 8, 256, 2): gradient, curvature

constexpr double kRound = 6755399441055744.0;       // 1.5 * 2^52: adding it rounds to an integer ...
constexpr int64_t kRoundBits = 0x4338000000000000;  // ... found in the low bits

inline int64_t rounded(double x) {
    const double shifted = x + kRound;
    int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - kRoundBits;
}

PERMISSIBLE_CLONES void pack(const double* g, const double* h, double grid_g, double grid_h, std::size_t begin,
                             std::size_t end, int64_t* out) {
    for (std::size_t i = begin; i < end; ++i) out[i] = (rounded(g[i] * grid_g) << 32) + rounded(h[i] * grid_h);
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

/// Moves packed sums into wide ones and clears them. The low half is never negative, so it splits off cleanly.
void flush(int64_t* cells, int64_t* wide) {
    for (int k = 0; k < kLanes * 256; ++k) {
        const int64_t low = cells[k] & 0xFFFFFFFF;
        wide[2 * k] += (cells[k] - low) >> 32;
        wide[2 * k + 1] += low;
        cells[k] = 0;
    }
}

void histogram_of_block(const Codes& codes, const int64_t* packed, std::size_t block, int64_t* wide) {
    int64_t cells[kLanes * 256] = {};
    const uint8_t* bytes = codes.blocks + block * codes.rows * kLanes;
    for (std::size_t begin = 0; begin < codes.rows; begin += kFlush) {
        const std::size_t end = std::min(codes.rows, begin + kFlush);
        if (codes.columns - static_cast<int>(block) * kLanes <= 4)
            histogram_of_four(bytes, packed, begin, end, cells);
        else
            histogram(bytes, packed, begin, end, cells);
        flush(cells, wide);
    }
}

struct Best {
    double gain = 0;
    int column = -1, code = -1;
    bool missing_left = false;
};

Best scan(const Codes& codes, const Cells& cells, const Growth& growth, double grid_g, double grid_h) {
    Best best;
    const auto score = [&](int64_t g, int64_t h) {
        const double sum = static_cast<double>(g) / grid_g;
        return sum * sum / (static_cast<double>(h) / grid_h + growth.l2 + 1e-12);
    };
    for (int c = 0; c < codes.columns; ++c) {
        const int64_t* cell = &cells[static_cast<std::size_t>(c) * 512];
        int64_t total_g = 0, total_h = 0;
        for (int k = 0; k < 256; ++k) total_g += cell[2 * k], total_h += cell[2 * k + 1];
        const int64_t missing_g = cell[2 * kMissing], missing_h = cell[2 * kMissing + 1];
        const bool has_missing = missing_g != 0 || missing_h != 0;
        const double parent = score(total_g, total_h);
        for (const bool missing_left : {false, true}) {
            if (missing_left && !has_missing) break;
            int64_t g = missing_left ? missing_g : 0, h = missing_left ? missing_h : 0;
            for (int k = 0; k < codes.bins[c]; ++k) {
                if (cell[2 * k] == 0 && cell[2 * k + 1] == 0) continue;
                g += cell[2 * k];
                h += cell[2 * k + 1];
                if (h <= 0 || total_h - h <= 0) continue;
                const double gain = score(g, h) + score(total_g - g, total_h - h) - parent;
                if (gain > best.gain * (1 + 1e-12)) best = {gain, c, k, missing_left};
            }
        }
    }
    return best;
}

struct Exact {
    int64_t g = 0, h = 0, size = 0;  // sums of the gradient, the curvature and the size of the gradient
};

void sides(const uint8_t* codes, const uint8_t* goes_left, std::size_t begin, std::size_t end, uint8_t* left) {
    for (std::size_t i = begin; i < end; ++i) left[i] = goes_left[codes[i * kLanes]];
}

/// Exact sums over all rows and over those on the left.
PERMISSIBLE_CLONES void side_sums(const uint8_t* left, const double* g, const double* h, double grid_g, double grid_h,
                                  std::size_t begin, std::size_t end, Exact* all, Exact* on_left) {
    int64_t all_g = 0, all_h = 0, left_g = 0, left_h = 0, size = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const int64_t keep = -static_cast<int64_t>(left[i]);
        const int64_t a = rounded(g[i] * grid_g), b = rounded(h[i] * grid_h);
        all_g += a;
        size += a < 0 ? -a : a;
        all_h += b;
        left_g += a & keep;
        left_h += b & keep;
    }
    all->g += all_g;
    all->h += all_h;
    all->size += size;
    on_left->g += left_g;
    on_left->h += left_h;
}

PERMISSIBLE_CLONES void tops(const double* g, const double* h, std::size_t count, double* top_g, double* top_h) {
    double a = 0, b = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double size = g[i] < 0 ? -g[i] : g[i];
        a = size > a ? size : a;
        b = h[i] > b ? h[i] : b;
    }
    *top_g = a;
    *top_h = b;
}

}  // namespace

bool packed_stump_applies(const Codes& codes, const Growth& growth, bool shared_rows, std::size_t rows) {
    const bool stump = growth.max_literals == 1 || (growth.max_literals == 0 && growth.max_leaves == 2);
    if (!stump || growth.random_thresholds || growth.column_share < 1.0 || shared_rows || rows < kPackedRows)
        return false;
    if (growth.min_leaf_weight > 1.0) return false;
    return std::none_of(codes.categorical, codes.categorical + codes.columns, [](uint8_t c) { return c != 0; });
}

Tree grow_packed_stump(const Codes& codes, const State& state, const Growth& growth, std::vector<uint8_t>& left,
                       double& edge) {
    const std::size_t n = codes.rows, blocks = (static_cast<std::size_t>(codes.columns) + kLanes - 1) / kLanes;
    const double* g = state.gradient.data();
    const double* h = state.curvature.data();
    double top_g = 0, top_h = 0;
    tops(g, h, n, &top_g, &top_h);
    const double grid_g = std::ldexp(grid_for(top_g), kBits - 52), grid_h = std::ldexp(grid_for(top_h), kBits - 52);
    static thread_local std::vector<int64_t> packed;
    packed.resize(n);
    Cells cells(blocks * kLanes * 512, 0);
    const auto chunks = static_cast<std::ptrdiff_t>((n + kBlockRows - 1) / kBlockRows);
    int64_t* words = packed.data();
#pragma omp parallel num_threads(state.threads())
    {
#pragma omp for schedule(static)
        for (std::ptrdiff_t b = 0; b < chunks; ++b)
            pack(g, h, grid_g, grid_h, b * kBlockRows, std::min<std::size_t>(n, (b + 1) * kBlockRows), words);
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(blocks); ++b)
            histogram_of_block(codes, words, b, &cells[b * kLanes * 512]);
    }
    const Best best = scan(codes, cells, growth, grid_g, grid_h);
    Tree tree;
    left.resize(n);
    int bits = 0;
    while ((std::size_t{1} << bits) < n) ++bits;
    const double fine_g = std::ldexp(grid_for(top_g), -std::max(0, bits - 10));
    const double fine_h = std::ldexp(grid_for(top_h), -std::max(0, bits - 10));
    uint8_t goes_left[256];
    std::fill(goes_left, goes_left + 256, uint8_t{1});
    if (best.column >= 0) {
        tree.column = {best.column};
        tree.code = {best.code};
        tree.left = {~0};
        tree.right = {~1};
        Mask mask{};
        for (int k = 0; k < 256; ++k) {
            goes_left[k] = k == kMissing ? best.missing_left : k <= best.code;
            if (goes_left[k]) mask[k >> 3] |= static_cast<uint8_t>(1u << (k & 7));
        }
        tree.mask = {mask};
    }
    Exact all, on_left;
    sides(codes.column(std::max(0, best.column)), goes_left, 0, n, left.data());
    side_sums(left.data(), g, h, fine_g, fine_h, 0, n, &all, &on_left);
    const Exact on_right{all.g - on_left.g, all.h - on_left.h, 0};
    double agreed = 0, largest = 0;
    for (const Exact& sums : {on_left, on_right}) {
        const double slope = static_cast<double>(sums.g) / fine_g;
        const double bend = static_cast<double>(sums.h) / fine_h + growth.l2;
        tree.value.push_back(bend > 0 ? -slope / bend : 0.0);
        agreed -= slope * tree.value.back();
        largest = std::max(largest, std::abs(tree.value.back()));
        if (best.column < 0) break;
    }
    edge = all.size > 0 && largest > 0 ? agreed / (static_cast<double>(all.size) / fine_g * largest) : 0.0;
    return tree;
}

}  // namespace permissible::mcboost
