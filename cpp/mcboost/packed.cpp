// See packed.hpp.
#include "mcboost/packed.hpp"

#include <algorithm>

#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

PERMISSIBLE_CLONES void pack(const double* high, const double* low, double grid_high, double grid_low,
                             std::size_t count, int64_t* __restrict out) {
    if (low)
        for (std::size_t i = 0; i < count; ++i)
            out[i] = (rounded(high[i] * grid_high) << 32) + rounded(low[i] * grid_low);
    else
        for (std::size_t i = 0; i < count; ++i) out[i] = rounded(high[i] * grid_high) << 32;
}

/// Adds the packed words of some rows to the first four columns of a block.
PERMISSIBLE_CLONES void histogram_of_four(const uint8_t* block, const int64_t* packed, std::size_t count,
                                          int64_t* __restrict cells) {
    for (std::size_t i = 0; i < count; ++i) {
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
PERMISSIBLE_CLONES void histogram(const uint8_t* block, const int64_t* packed, std::size_t count,
                                  int64_t* __restrict cells) {
    for (std::size_t i = 0; i < count; ++i) {
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

/// The same for four words a row (eight terms) at once, four columns at a time so that the cells stay in the first
/// cache: one wide store for all of them.
typedef int64_t Quad __attribute__((vector_size(32)));
PERMISSIBLE_CLONES void histogram_of_quads(const uint8_t* block, const int64_t* packed, std::size_t count,
                                           int64_t* __restrict cells) {
    const auto add = [cells](std::size_t at, const int64_t* words) __attribute__((always_inline)) {
        Quad sum, word;
        std::memcpy(&sum, cells + 4 * at, sizeof sum);
        std::memcpy(&word, words, sizeof word);
        sum += word;
        std::memcpy(cells + 4 * at, &sum, sizeof sum);
    };
    for (std::size_t i = 0; i < count; ++i) {
        uint32_t codes;
        std::memcpy(&codes, block + i * kLanes, sizeof codes);
        const int64_t* words = packed + 4 * i;
        add(0 * 256 + (codes & 255), words);
        add(1 * 256 + ((codes >> 8) & 255), words);
        add(2 * 256 + ((codes >> 16) & 255), words);
        add(3 * 256 + (codes >> 24), words);
    }
}

/// Moves packed sums into wide ones and clears them. The low half is a signed 32-bit sum: it splits off cleanly.
template <int Words>
inline void flush_words(int64_t* __restrict cells, int64_t* __restrict wide, int width) {
    for (int k = 0; k < kLanes * 256; ++k)
        for (int w = 0; w < Words; ++w) {
            const int64_t cell = cells[k * Words + w];
            const auto low = static_cast<int64_t>(static_cast<int32_t>(cell & 0xFFFFFFFF));
            wide[k * width + 2 * w] += (cell - low) >> 32;
            wide[k * width + 2 * w + 1] += low;
            cells[k * Words + w] = 0;
        }
}

void flush(int64_t* cells, int words, int64_t* wide, int width) {
    if (words == 4)
        flush_words<4>(cells, wide, width);
    else if (width == 2)
        flush_words<1>(cells, wide, 2);
    else
        flush_words<1>(cells, wide, width);
}

/// Packs the two terms from `t` on of some rows into words that lie `stride` apart.
void pack_rows(const PackedTerms& terms, int t, std::size_t begin, std::size_t rows, std::size_t stride, int64_t* out) {
    const bool whole = t + 1 < static_cast<int>(terms.values.size());
    const double* low = whole ? terms.values[t + 1] + begin : nullptr;
    const double grid_low = whole ? terms.grids[t + 1] : 0.0;
    if (stride == 1)
        pack(terms.values[t] + begin, low, terms.grids[t], grid_low, rows, out);
    else
        for (std::size_t at = 0; at < rows; at += 512) {  // a strip at a time: vector arithmetic, then the strides
            int64_t strip[512];
            const std::size_t count = std::min<std::size_t>(512, rows - at);
            pack(terms.values[t] + begin + at, low ? low + at : nullptr, terms.grids[t], grid_low, count, strip);
            for (std::size_t i = 0; i < count; ++i) out[(at + i) * stride] = strip[i];
        }
}

/// Histograms of every `step`-th block of columns from `first`: words of two packed terms each, four words at a time
/// where there are as many, kStrip rows at a time.
void histogram_blocks(const Codes& codes, const PackedTerms& terms, std::size_t first, std::size_t step,
                      std::vector<int64_t>& wide) {
    const std::size_t blocks = (static_cast<std::size_t>(codes.columns) + kLanes - 1) / kLanes;
    const int width = terms.width();
    const int widest = width / 2 >= 4 ? 4 : 1;
    static thread_local std::vector<int64_t> cells, words;  // kept: fresh pages at every call cost more than the sums
    cells.assign(kLanes * 256 * widest, 0);
    words.resize(std::max(words.size(), std::min(kStrip, codes.rows) * widest));
    for (std::size_t begin = 0; begin < codes.rows; begin += kStrip) {
        const std::size_t rows = std::min(codes.rows - begin, kStrip);
        for (int t = 0, group; t < width; t += 2 * group) {
            group = width - t >= 8 ? 4 : 1;
            for (int w = 0; w < group; ++w) pack_rows(terms, t + 2 * w, begin, rows, group, words.data() + w);
            for (std::size_t block = first; block < blocks; block += step) {
                const uint8_t* bytes = codes.blocks + (block * codes.rows + begin) * kLanes;
                const bool half = codes.columns - static_cast<int>(block) * kLanes <= 4;
                if (group == 4) {
                    histogram_of_quads(bytes, words.data(), rows, cells.data());
                    if (!half) histogram_of_quads(bytes + 4, words.data(), rows, cells.data() + 4 * 4 * 256);
                } else if (half) {
                    histogram_of_four(bytes, words.data(), rows, cells.data());
                } else {
                    histogram(bytes, words.data(), rows, cells.data());
                }
                flush(cells.data(), group, &wide[block * kLanes * 256 * width + t], width);
            }
        }
    }
}

}  // namespace

std::vector<int64_t> packed_histograms(const Codes& codes, const PackedTerms& terms, int threads) {
    const std::size_t blocks = (static_cast<std::size_t>(codes.columns) + kLanes - 1) / kLanes;
    std::vector<int64_t> cells(blocks * kLanes * 256 * terms.width(), 0);
    const auto shares = std::min<std::ptrdiff_t>(threads, static_cast<std::ptrdiff_t>(blocks));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::ptrdiff_t s = 0; s < shares; ++s) histogram_blocks(codes, terms, s, shares, cells);
    return cells;
}

}  // namespace permissible::mcboost
