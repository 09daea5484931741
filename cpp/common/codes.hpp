// Coded rows, sets of codes, and the leaf that a coded row falls into.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace permissible {

inline constexpr int kMissingCode = 255;
inline constexpr int kOtherCode = 254;  // a category that has no code of its own

/// Training rows as codes: (n_blocks, rows, 8) bytes, column j in block j / 8, lane j % 8. Kernels that list splits
/// also need the layout of the columns.
struct Codes {
    const uint8_t* blocks = nullptr;
    std::size_t rows = 0;
    int columns = 0;
    const uint8_t* categorical = nullptr;  // (columns)
    const int32_t* bins = nullptr;         // (columns): codes of values are below it

    std::size_t n_blocks() const { return (static_cast<std::size_t>(columns) + 7) / 8; }
    int lanes(std::size_t block) const { return std::min(8, columns - static_cast<int>(block) * 8); }
    const uint8_t* block(std::size_t index) const { return blocks + index * rows * 8; }
    /// The code of row i is eight i bytes further.
    const uint8_t* column(int c) const { return block(static_cast<std::size_t>(c / 8)) + c % 8; }
};

/// Whether every code of column j is below bins[j] or missing. Kernels count codes in tables of that size and trust
/// them, so the bindings check this first; it reads each code once, 64 at a time. Where `any` is given, a
/// column j with any[j] may hold every code.
inline bool codes_fit(const Codes& codes, const uint8_t* any = nullptr) {
    for (int first = 0; first < codes.columns; first += 8) {
        const uint8_t* at = codes.column(first);
        const std::size_t size = codes.rows * 8, whole = size / 64 * 64;
        uint8_t most[64] = {};  // of code + 1: the missing one wraps around to 0
        for (std::size_t i = 0; i < whole; i += 64)
            for (std::size_t k = 0; k < 64; ++k) most[k] = std::max(most[k], static_cast<uint8_t>(at[i + k] + 1));
        for (std::size_t i = whole; i < size; ++i) most[i % 8] = std::max(most[i % 8], static_cast<uint8_t>(at[i] + 1));
        for (int lane = 0; lane < codes.lanes(first / 8); ++lane) {
            if (any && any[first + lane]) continue;
            for (int k = lane; k < 64; k += 8)
                if (most[k] > codes.bins[first + lane]) return false;
        }
    }
    return true;
}

/// A set of codes, one bit each: those that go left.
using CodeSet = std::array<uint8_t, 32>;

inline bool in_set(const uint8_t* set, int code) { return (set[code >> 3] >> (code & 7)) & 1; }
inline void insert(CodeSet& set, int code) { set[code >> 3] |= static_cast<uint8_t>(1u << (code & 7)); }

/// A tree over codes: a child >= 0 is a node, ~leaf otherwise.
struct CodedTree {
    const int32_t *column, *left, *right;
    const uint8_t* left_set;  // (nodes, 32)

    int leaf_of(const Codes& codes, std::size_t row) const {
        int node = 0;
        do {
            const bool goes_left =
                in_set(left_set + static_cast<std::size_t>(node) * 32, codes.column(column[node])[row * 8]);
            node = goes_left ? left[node] : right[node];
        } while (node >= 0);
        return ~node;
    }
};

}  // namespace permissible
