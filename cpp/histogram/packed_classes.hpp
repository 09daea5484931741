// Histograms of packed words: two terms of a row in one 64-bit word, so that one addition counts both. Sums of integers
// only, so threads and the order of rows do not show.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "common/codes.hpp"

namespace permissible::mcboost {

inline constexpr int kPackedBits = 17;        // of a term, besides its sign
inline constexpr std::size_t kStrip = 16376;  // rows at a time: the terms do not fill their 31 bits, words stay near

/// The nearest integer of a double below 2^51 in size, without a branch or a call.
inline int64_t rounded(double x) {
    constexpr double kRound = 6755399441055744.0;       // 1.5 * 2^52: adding it rounds to an integer ...
    constexpr int64_t kRoundBits = 0x4338000000000000;  // ... found in the low bits
    const double shifted = x + kRound;
    int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - kRoundBits;
}

/// What is counted: of each term its rows, and the grid that makes it an integer of kPackedBits.
struct PackedTerms {
    std::vector<const double*> values;
    std::vector<double> grids;
    int width() const {
        return static_cast<int>(values.size() + 1) / 2 * 2;
    }  // with nothing where a word is half empty
};

/// The eight bytes that a block has of each row: codes of one byte, then codes of two, which are below 512.
struct Shape {
    int bytes, pairs;
    int lanes() const { return bytes + pairs; }
    int cells_of(int lane) const { return lane < bytes ? 256 : 512; }
    std::size_t cells_before(int lane) const { return 256 * lane + 256 * (lane > bytes ? lane - bytes : 0); }
};

/// By what it is counted. A lane is a code of every row: a column, or several joined (bundles.hpp).
struct Lanes {
    const uint8_t* blocks;  // (shapes, rows, 8)
    std::size_t rows;
    std::vector<Shape> shapes;
    std::vector<int> sizes;  // the codes of each lane are below it; empty where any may come
};
Lanes lanes_of(const Codes& codes);

/// Sums by code of all rows, (cells of a lane, width) for one lane after the other.
std::vector<int64_t> packed_histograms(const Lanes& lanes, const PackedTerms& terms, int threads);

}  // namespace permissible::mcboost
