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
/// one per cycle, is the limit of the machine. Each code is loaded by itself: shifting it out of a word would take
/// execution ports that a second thread of the core could use.
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
