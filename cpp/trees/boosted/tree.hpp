// A tree of a boosted model as the list of its splits in the order in which they were made. The law: the split number s
// sends rows of leaf `parent` to the new leaf s + 1 or leaves them where they are, so that the leaf of every row comes
// from one pass of byte comparisons over each split's column, and no row walks from node to node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/boosted/codes.hpp"

namespace permissible::boosted {

inline constexpr int kMostLeaves = 256;  // a leaf is a byte

enum class Test : uint8_t {
    missing_right,  // code <= cut stays; missing goes
    missing_left,   // code <= cut or missing stays
    in_set          // a code of the set stays
};

using CodeSet = std::array<uint64_t, 4>;  // bit c: code c

struct Split {
    uint8_t parent = 0;
    Test test = Test::missing_right;
    uint8_t cut = 0;
    int column = 0;
    CodeSet set{};
    double gain = 0.0;  // decrease of the quadratic approximation of the surrogate

    bool stays(uint8_t code) const {
        if (test == Test::in_set) return (set[code >> 6] >> (code & 63)) & 1;
        return code <= cut || (test == Test::missing_left && code == kMissing);
    }
};

/// The column that was given: of a bundle the one whose ones go.
inline int origin_of(const Column& column, const Split& split) {
    return column.members.empty() ? column.origin : column.members[split.cut - 1];
}

struct Tree {
    std::vector<Split> splits;
    std::vector<double> low, high;  // of each leaf: where a monotone constraint lets its value lie; else empty
    int inside = -1;                // of a rule: the leaf of the rows that pass every literal
    std::size_t leaves() const { return splits.size() + 1; }
};

/// Sends the rows [begin, end) of one leaf on; `leaf` and `code` begin at row 0.
void divide(const Split& split, uint8_t made, const uint8_t* code, uint8_t* leaf, std::size_t begin, std::size_t end);

/// The leaves of rows [begin, end), chunk by chunk.
void find_leaves(const Split* splits, std::size_t count, const Codes& codes, uint8_t* leaf, std::size_t begin,
                 std::size_t end);

}  // namespace permissible::boosted
