// Histograms of packed words: two terms of a row in one 64-bit word, so that one addition counts both. Only integers
// are summed, so the result depends neither on threads nor on row order.
#pragma once

#include <cstddef>
#include <cstdint>

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
