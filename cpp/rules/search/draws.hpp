// Draws by which the search of shrunk rules compares literals: sqrt(2 D / noise) + z, D the decrease of a literal.
//
// Under the hypothesis that a literal says nothing, sqrt(2 D) is about the absolute value of a normal variable, so this
// is D drawn anew within its own error, and literals that the rows cannot tell apart take turns from round to round.
// The draw z is a hash of the round, of the literals of the rule so far, of the column's key and of the cut or the
// categories: not of the sums, whose last digits depend on how a loss is computed. A cut or a set and its complement
// have one draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/mixing.hpp"

namespace permissible::rules {

/// The seed of the draws of one column.
inline uint64_t column_draws(uint64_t seed, uint64_t key) { return mixed(seed ^ key); }

/// The draw of a literal, a number with mean 0, variance 1 and size at most the square root of 12: the sum of four
/// uniform ones.
inline double draw_of(uint64_t column, uint64_t literal) {
    const uint64_t h = finalise(column + (literal + 1) * kGolden);
    const uint64_t sum = (h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) + (h >> 48);
    return (static_cast<double>(static_cast<int32_t>(sum)) - 2.0 * 0xffff) * (std::sqrt(3.0) / 0xffff);
}

/// What a literal is compared by; NaN for a negative decrease.
inline double varied(double decrease, double noise, uint64_t column, uint64_t literal) {
    return std::sqrt(2.0 * decrease / noise) + draw_of(column, literal);
}

/// The seed after a literal that keeps `members` of a column.
inline uint64_t seed_after(uint64_t seed, uint64_t key, const uint8_t* members) {
    seed = mixed(seed ^ key);
    for (std::size_t word = 0; word < 256; word += 64) {
        uint64_t bits = 0;
        for (std::size_t bit = 0; bit < 64; ++bit) bits |= static_cast<uint64_t>(members[word + bit] != 0) << bit;
        seed = mixed(seed ^ bits);
    }
    return seed;
}

/// The number of a set of categories in a draw, in any order; a set and its complement have the smaller of theirs.
inline uint64_t number_of_set(const std::vector<int>& kept, const std::vector<int>& others) {
    uint64_t inside = 0, outside = 0;
    for (const int code : kept) inside += mixed(static_cast<uint64_t>(code));
    for (const int code : others) outside += mixed(static_cast<uint64_t>(code));
    return std::min(inside, outside);
}

/// Turns the decreases of some cuts, one variant of all of them after the other, into what they are compared by.
void draw_cuts(double* decrease, const int* code, int n_cuts, int n_variants, double noise, uint64_t column);

}  // namespace permissible::rules
