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

/// cell += word, of one word or of four, which one wide store adds.
template <int Words>
inline __attribute__((always_inline)) void add(int64_t* cell, const int64_t* word) {
    typedef int64_t Quad __attribute__((vector_size(32)));
    if constexpr (Words == 4) {
        Quad sum, term;
        std::memcpy(&sum, cell, sizeof sum);
        std::memcpy(&term, word, sizeof term);
        sum += term;
        std::memcpy(cell, &sum, sizeof sum);
    } else {
        *cell += *word;
    }
}

/// Adds the words of some rows to the cells of `Count` lanes of a block from lane `First` on. One store per lane and
/// row, one in every cycle: the machine's limit.
template <int Words, int Bits, int First, int Count>
inline __attribute__((always_inline)) void histogram(const uint8_t* block, const int64_t* packed, std::size_t rows,
                                                     int64_t* __restrict cells) {
    for (std::size_t i = 0; i < rows; ++i) {
        uint64_t codes;
        std::memcpy(&codes, block + i * 8, sizeof codes);
        const int64_t* word = packed + Words * i;
#pragma GCC unroll 8
        for (int lane = First; lane < First + Count; ++lane) {
            const std::size_t code = (codes >> (Bits * lane)) & ((1u << Bits) - 1);
            add<Words>(cells + Words * ((static_cast<std::size_t>(lane) << Bits) + code), word);
        }
    }
}

/// The first `count` lanes of a block; of four words a row, four lanes at a time so that their cells stay in the first
/// cache.
template <int Words, int Bits, int Count = 64 / Bits>
inline __attribute__((always_inline)) void histogram_of(int count, const uint8_t* block, const int64_t* packed,
                                                        std::size_t rows, int64_t* cells) {
    if constexpr (Count > 0) {
        if (count < Count) {
            histogram_of<Words, Bits, Count - 1>(count, block, packed, rows, cells);
        } else if constexpr (Words == 4 && Count > 4) {
            histogram<Words, Bits, 0, 4>(block, packed, rows, cells);
            histogram<Words, Bits, 4, Count - 4>(block, packed, rows, cells);
        } else {
            histogram<Words, Bits, 0, Count>(block, packed, rows, cells);
        }
    }
}

PERMISSIBLE_CLONES void add_quads(const Lanes& lanes, int count, const uint8_t* block, const int64_t* packed,
                                  std::size_t rows, int64_t* cells) {
    if (lanes.bits == 9)
        histogram_of<4, 9>(count, block, packed, rows, cells);
    else
        histogram_of<4, 8>(count, block, packed, rows, cells);
}

void add_words(const Lanes& lanes, int count, const uint8_t* block, const int64_t* packed, std::size_t rows,
               int64_t* cells) {
    if (lanes.bits == 9)
        histogram_of<1, 9>(count, block, packed, rows, cells);
    else
        histogram_of<1, 8>(count, block, packed, rows, cells);
}

/// Moves packed sums of one word a cell into wide ones and clears them. The low half is a signed sum: what it borrowed
/// from the high half is given back, and then both are signed numbers of 32 bits.
PERMISSIBLE_CLONES void flush_pairs(int64_t* __restrict cells, int64_t* __restrict wide, int count) {
    constexpr uint64_t kSign = 0x80000000;
    constexpr int kAtOnce = 64;
    uint64_t halves[kAtOnce];
    int32_t parts[2 * kAtOnce];
    for (int begin = 0; begin < count; begin += kAtOnce) {
        for (int k = 0; k < kAtOnce; ++k) {
            const uint64_t cell = (static_cast<uint64_t>(cells[begin + k]) + kSign) ^ kSign;
            halves[k] = (cell << 32) | (cell >> 32);  // the high half first, as in the wide sums
            cells[begin + k] = 0;
        }
        std::memcpy(parts, halves, sizeof parts);
        for (int k = 0; k < 2 * kAtOnce; ++k) wide[2 * begin + k] += parts[k];
    }
}

/// The same for `Words` words a cell, among cells of `width` terms.
template <int Words>
inline void flush_words(int64_t* __restrict cells, int64_t* __restrict wide, int width, int count) {
    for (int k = 0; k < count; ++k)
        for (int w = 0; w < Words; ++w) {
            const int64_t cell = cells[k * Words + w];
            const auto low = static_cast<int64_t>(static_cast<int32_t>(cell & 0xFFFFFFFF));
            wide[k * width + 2 * w] += (cell - low) >> 32;
            wide[k * width + 2 * w + 1] += low;
            cells[k * Words + w] = 0;
        }
}

void flush(int64_t* cells, int words, int64_t* wide, int width, int count) {
    if (words == 4)
        flush_words<4>(cells, wide, width, count);
    else if (width == 2)
        flush_pairs(cells, wide, count);
    else
        flush_words<1>(cells, wide, width, count);
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

/// Histograms of every `step`-th block from `first`: words of two packed terms each, four words at a time where there
/// are as many, kStrip rows at a time.
void histogram_blocks(const Lanes& lanes, const PackedTerms& terms, int first, int step, std::vector<int64_t>& wide) {
    const int width = terms.width();
    const int widest = width / 2 >= 4 ? 4 : 1;
    static thread_local std::vector<int64_t> cells, words;  // kept: fresh pages at every call cost more than the sums
    cells.assign(static_cast<std::size_t>(lanes.per_block * lanes.cells()) * widest, 0);
    words.resize(std::max(words.size(), std::min(kStrip, lanes.rows) * widest));
    for (std::size_t begin = 0; begin < lanes.rows; begin += kStrip) {
        const std::size_t rows = std::min(lanes.rows - begin, kStrip);
        for (int t = 0, group; t < width; t += 2 * group) {
            group = width - t >= 8 ? 4 : 1;
            for (int w = 0; w < group; ++w) pack_rows(terms, t + 2 * w, begin, rows, group, words.data() + w);
            for (int block = first; block < lanes.blocks_count(); block += step) {
                const uint8_t* bytes = lanes.blocks + (block * lanes.rows + begin) * 8;
                const int lane = block * lanes.per_block, count = std::min(lanes.count - lane, lanes.per_block);
                if (group == 4)
                    add_quads(lanes, count, bytes, words.data(), rows, cells.data());
                else
                    add_words(lanes, count, bytes, words.data(), rows, cells.data());
                for (int l = 0; l < count; ++l)
                    flush(cells.data() + static_cast<std::size_t>(l) * lanes.cells() * group, group,
                          &wide[static_cast<std::size_t>(lane + l) * lanes.cells() * width + t], width,
                          lanes.sizes ? lanes.sizes[lane + l] : lanes.cells());
            }
        }
    }
}

}  // namespace

Lanes lanes_of(const Codes& codes) {
    return {codes.blocks, codes.rows, codes.columns, 8, 8, nullptr};
}

std::vector<int64_t> packed_histograms(const Lanes& lanes, const PackedTerms& terms, int threads) {
    std::vector<int64_t> cells(static_cast<std::size_t>(lanes.count) * lanes.cells() * terms.width(), 0);
    const auto shares = std::min(threads, lanes.blocks_count());
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int s = 0; s < shares; ++s) histogram_blocks(lanes, terms, s, shares, cells);
    return cells;
}

}  // namespace permissible::mcboost
