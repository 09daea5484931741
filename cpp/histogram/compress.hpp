// The rows whose flag is as wanted, moved next to each other. Both functions return how many they are, and overwrite up
// to eight places beyond them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace permissible {

/// Packed values, and the numbers of their rows from `begin` on.
std::size_t compress_rows(const uint8_t* mask, uint8_t wanted, std::size_t begin, const int64_t* packed, std::size_t n,
                          int64_t* values, uint32_t* chosen);
/// Words of 64 bits.
std::size_t compress_words(const uint8_t* flags, uint8_t wanted, const void* words, std::size_t n, void* to);

}  // namespace permissible
