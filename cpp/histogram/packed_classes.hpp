// Histograms of packed words: two integers of a row in one word of 64 bits, so that one addition counts both.
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

/// Adds the words of some rows to the cells of the lanes of their block.
void add_words(int lanes, const uint8_t* block, const int64_t* packed, std::size_t rows, int64_t* cells);

}  // namespace permissible
