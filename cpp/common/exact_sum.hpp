// Sums over rows that do not depend on their order: terms become integers on a power-of-two grid, integers add exactly.
// So a model is the same bit for bit for any number of threads, partitions and workers.
#pragma once

#include <cmath>
#include <cstdint>

namespace permissible {

/// A sum of doubles on the grid 2^-shift, kept as a 128-bit integer. |term| * 2^shift must stay below 2^62.
struct ExactSum {
    __int128 total = 0;

    void add(double term, double grid) { total += static_cast<int64_t>(std::nearbyint(term * grid)); }
    void add_integer(int64_t term) { total += term; }
    void merge(const ExactSum& other) { total += other.total; }
    double value(double grid) const { return static_cast<double>(total) / grid; }
};

/// The grid (a power of two) on which terms of at most `largest` keep 52 bits.
inline double grid_for(double largest) {
    if (!(largest > 0)) return 1.0;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, 52 - exponent);
}

}  // namespace permissible
