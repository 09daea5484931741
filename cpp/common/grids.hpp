// Every power-of-two grid of the core. A term times its grid is rounded to an integer, and integers add exactly: so a
// model is the same bit for bit for any number of threads, partitions and workers. A grid follows from bounds over all
// rows of all parts. Changing a formula changes models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace permissible {

inline constexpr int kPassBits = 46;              // of a term of a pass: 16,384 of them fit 64 bits
inline constexpr int kSingleBits = 24;            // of a lone signed weight in a histogram
inline constexpr std::size_t kChunkUnits = 8192;  // rows (or units of multiplicity) of one packed chunk

/// The grid on which terms of at most `largest` take this many bits.
inline double grid_of_bits(double largest, int bits) {
    if (!(largest > 0.0) || !std::isfinite(largest)) return 1.0;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, bits - exponent);
}

/// The number of bits that count this many rows.
inline int bits_for(std::size_t rows) {
    int bits = 0;
    while ((std::size_t{1} << bits) < rows) ++bits;
    return bits;
}

/// Passes of ULS over the rows.
inline double pass_grid(double largest) { return std::min(grid_of_bits(largest, kPassBits), 0x1p1000); }

/// Histograms of ULS, from the bounds of weight and curvature and the units (rows, copies) in the whole table: two sums
/// share a word, so that a chunk of units fits its half of it.
struct HistogramGrids {
    double weight, curvature;
};
inline HistogramGrids histogram_grids(double weight_bound, double curvature_bound, double total_units, bool two_sums) {
    if (!two_sums) return {grid_of_bits(weight_bound, kSingleBits), 1.0};
    int exponent = 0;
    std::frexp(std::min(total_units, static_cast<double>(kChunkUnits)), &exponent);  // units < 2^exponent
    const int bits = std::min(kSingleBits, 31 - exponent);
    return {grid_of_bits(weight_bound, bits), grid_of_bits(curvature_bound, bits)};
}

}  // namespace permissible
