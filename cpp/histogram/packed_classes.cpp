// See packed_classes.hpp.
#include "histogram/packed_classes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "common/lanes.hpp"
#include "common/parallel.hpp"

namespace permissible {

namespace {

/// cell += word, of one word or of four, which one wide store adds.
template <int Words>
PERMISSIBLE_INLINE void add(int64_t* cell, const int64_t* word) {
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

/// Adds the words of some rows to the cells of the lanes of a block from byte `First` on. One store per lane and row,
/// one in every cycle: the machine's limit; a code is loaded by itself, since to shift it out of a word takes what a
/// second thread of the core would use.
template <int Words, int First, int Bytes, int Pairs>
PERMISSIBLE_INLINE void histogram(const uint8_t* block, const int64_t* packed, std::size_t rows,
                                  int64_t* __restrict cells) {
    for (std::size_t i = 0; i < rows; ++i) {
        const uint8_t* row = block + i * 8 + First;
        const int64_t* word = packed + Words * i;
#pragma GCC unroll 8
        for (int lane = 0; lane < Bytes; ++lane) add<Words>(cells + Words * (lane * 256 + row[lane]), word);
#pragma GCC unroll 4
        for (int lane = 0; lane < Pairs; ++lane) {
            const uint8_t* code = row + Bytes + 2 * lane;  // the low byte comes first
            add<Words>(cells + Words * (Bytes * 256 + lane * 512 + ((code[0] | code[1] << 8) & 511)), word);
        }
    }
}

using Adder = void (*)(const uint8_t*, const int64_t*, std::size_t, int64_t*);

template <int Bytes, int Pairs>
void add_shape(const uint8_t* block, const int64_t* packed, std::size_t rows, int64_t* cells) {
    if constexpr (Bytes + 2 * Pairs <= 8) histogram<1, 0, Bytes, Pairs>(block, packed, rows, cells);
}

template <int... Index>
constexpr std::array<Adder, sizeof...(Index)> adders(std::integer_sequence<int, Index...>) {
    return {add_shape<Index % 9, Index / 9>...};
}

}  // namespace

void add_words(const Shape& shape, const uint8_t* block, const int64_t* packed, std::size_t rows, int64_t* cells) {
    static constexpr auto kAdders = adders(std::make_integer_sequence<int, 9 * 5>());
    kAdders[shape.pairs * 9 + shape.bytes](block, packed, rows, cells);
}

}  // namespace permissible

namespace permissible::mcboost {

namespace {

PERMISSIBLE_CLONES void pack(const double* high, const double* low, double grid_high, double grid_low,
                             std::size_t count, int64_t* __restrict out) {
    if (low)
        for (std::size_t i = 0; i < count; ++i)
            out[i] = joined(rounded(high[i] * grid_high), rounded(low[i] * grid_low));
    else
        for (std::size_t i = 0; i < count; ++i) out[i] = joined(rounded(high[i] * grid_high), 0);
}

/// Four words a row, four columns at a time so that their cells stay in the first cache.
template <int First, int Bytes>
PERMISSIBLE_INLINE void add_quads_from(int bytes, const uint8_t* block, const int64_t* packed, std::size_t rows,
                                       int64_t* cells) {
    if constexpr (Bytes > 0) {
        if (bytes < Bytes)
            add_quads_from<First, Bytes - 1>(bytes, block, packed, rows, cells);
        else
            histogram<4, First, Bytes, 0>(block, packed, rows, cells);
    }
}

PERMISSIBLE_CLONES void add_quads(int columns, const uint8_t* block, const int64_t* packed, std::size_t rows,
                                  int64_t* cells) {
    add_quads_from<0, 4>(std::min(columns, 4), block, packed, rows, cells);
    add_quads_from<4, 4>(columns - 4, block, packed, rows, cells + 4 * 4 * 256);
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
            wide[k * width + 2 * w] += high_half(cell);
            wide[k * width + 2 * w + 1] += low_half(cell);
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

/// Where the cells of each block begin, and after the last one their number.
std::vector<std::size_t> first_cells(const CodeLanes& lanes) {
    std::vector<std::size_t> first{0};
    for (const Shape& shape : lanes.shapes) first.push_back(first.back() + shape.cells_before(shape.lanes()));
    return first;
}

/// Histograms of every `step`-th block from `first`: words of two packed terms each, four words at a time where there
/// are as many, kStrip rows at a time.
class BlockSums {
  public:
    BlockSums(const CodeLanes& lanes, const PackedTerms& terms, std::vector<int64_t>& wide)
        : lanes_(lanes), terms_(terms), wide_(wide), first_cell_(first_cells(lanes)) {
        for (const Shape& shape : lanes.shapes) first_lane_.push_back(first_lane_.back() + shape.lanes());
    }

    void add(std::size_t first, std::size_t step) {
        const int width = terms_.width(), widest = width / 2 >= 4 ? 4 : 1;
        static thread_local std::vector<int64_t> cells, words;  // kept: new pages cost more than the sums
        cells.assign(8 * 256 * widest, 0);
        words.resize(std::max(words.size(), std::min(kStrip, lanes_.rows) * widest));
        for (std::size_t begin = 0; begin < lanes_.rows; begin += kStrip) {
            const std::size_t rows = std::min(lanes_.rows - begin, kStrip);
            for (int t = 0, group; t < width; t += 2 * group) {
                group = width - t >= 8 ? 4 : 1;
                for (int w = 0; w < group; ++w) pack_rows(terms_, t + 2 * w, begin, rows, group, words.data() + w);
                for (std::size_t block = first; block < lanes_.shapes.size(); block += step) {
                    const uint8_t* bytes = lanes_.blocks + (block * lanes_.rows + begin) * 8;
                    if (group == 4)
                        add_quads(lanes_.shapes[block].bytes, bytes, words.data(), rows, cells.data());
                    else
                        add_words(lanes_.shapes[block], bytes, words.data(), rows, cells.data());
                    flush_block(block, t, group, cells.data());
                }
            }
        }
    }

  private:
    void flush_block(std::size_t block, int t, int group, int64_t* cells) {
        const Shape& shape = lanes_.shapes[block];
        const int width = terms_.width();
        for (int lane = 0; lane < shape.lanes(); ++lane) {
            const std::size_t at = shape.cells_before(lane);
            const int codes = lanes_.sizes.empty() ? shape.cells_of(lane) : lanes_.sizes[first_lane_[block] + lane];
            flush(cells + at * group, group, &wide_[(first_cell_[block] + at) * width + t], width, codes);
        }
    }

    const CodeLanes& lanes_;
    const PackedTerms& terms_;
    std::vector<int64_t>& wide_;
    std::vector<std::size_t> first_cell_, first_lane_{0};
};

}  // namespace

CodeLanes lanes_of(const Codes& codes) {
    CodeLanes lanes{codes.blocks, codes.rows, {}, {}};
    for (int c = 0; c < codes.columns; c += 8) lanes.shapes.push_back({std::min(8, codes.columns - c), 0});
    return lanes;
}

std::vector<int64_t> packed_histograms(const CodeLanes& lanes, const PackedTerms& terms, int threads) {
    std::vector<int64_t> cells(first_cells(lanes).back() * terms.width(), 0);
    BlockSums sums(lanes, terms, cells);
    const auto shares = std::min<std::ptrdiff_t>(threads, static_cast<std::ptrdiff_t>(lanes.shapes.size()));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::ptrdiff_t s = 0; s < shares; ++s) sums.add(s, shares);
    return cells;
}

}  // namespace permissible::mcboost
