// Histograms of packed words: two terms of a row in one 64-bit word, so that one addition counts both. Only integers
// are summed, so the result depends neither on threads nor on row order.
#pragma once

#include <cstdint>
#include <vector>

#include "common/codes.hpp"

namespace permissible {

/// Two integers in one word, and back: the low half is signed, what it borrowed from the high half is given back.
inline int64_t joined(int64_t high, int64_t low) {
    return static_cast<int64_t>(static_cast<uint64_t>(high) << 32) + low;
}
inline int64_t low_half(int64_t word) { return static_cast<int32_t>(word & 0xFFFFFFFF); }
inline int64_t high_half(int64_t word) { return (word - low_half(word)) >> 32; }

/// The eight bytes that a block has of each row: codes of one byte, then codes of two, which are below 512.
struct Shape {
    int bytes, pairs;
    int lanes() const { return bytes + pairs; }
    int cells_of(int lane) const { return lane < bytes ? 256 : 512; }
    std::size_t cells_before(int lane) const { return 256 * lane + 256 * (lane > bytes ? lane - bytes : 0); }
};

/// Adds the words of some rows to the cells of the lanes of their block.
void add_words(const Shape& shape, const uint8_t* block, const int64_t* packed, std::size_t rows, int64_t* cells);

}  // namespace permissible

namespace permissible::mcboost {

inline constexpr std::size_t kStrip = 16376;  // rows at a time: the terms do not fill their 31 bits, words stay near

/// What is counted: of each term its rows, and the grid that makes it an integer of kPackedBits.
struct PackedTerms {
    std::vector<const double*> values;
    std::vector<double> grids;
    int width() const {
        return static_cast<int>(values.size() + 1) / 2 * 2;
    }  // with nothing where a word is half empty
};

/// By what it is counted. A lane is a code of every row: a column, or several joined (bundles.hpp).
struct CodeLanes {
    const uint8_t* blocks;  // (shapes, rows, 8)
    std::size_t rows;
    std::vector<Shape> shapes;
    std::vector<int> sizes;  // the codes of each lane are below it; empty where any may come
};
CodeLanes lanes_of(const Codes& codes);

/// Sums by code of all rows, (cells of a lane, width) for one lane after the other.
std::vector<int64_t> packed_histograms(const CodeLanes& lanes, const PackedTerms& terms, int threads);

}  // namespace permissible::mcboost
