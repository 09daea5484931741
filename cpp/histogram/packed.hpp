// Histograms of quantised weights: for each column and code, the sum of the signed weights y*w of the rows that hold
// it, and if the criterion needs it the sum of their curvatures. All sums are integers, so they add in any order.
//
// How it is fast: rows come in blocks of 8 columns, one 64-bit load for 8 codes; both sums
// of a row travel in one 64-bit integer (weight in the upper half, curvature in the lower), so a code costs one store;
// chunks of at most kChunkUnits rows keep the two halves apart, and are then unpacked into wide sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/codes.hpp"
#include "common/grids.hpp"

namespace permissible::rules {

inline constexpr int kMultiplicityBits = 10;  // an integer sample weight above 2^10 is treated as a real one
inline constexpr std::size_t kRunRows = 512;  // rows whose weights are computed together

/// Which rows a search looks at: row i where u_i < p_i = min(1, r_i / threshold), r^2 = w^2 + k^2 / 10, and it counts
/// for 1 / p_i; u is a hash of its content and the seed (trees/boosted/sample.hpp). A threshold of 0 takes all rows.
struct RowDraw {
    const uint32_t* hash = nullptr;
    double threshold = 0.0;
    uint64_t seed = 0;

    bool sampled() const { return threshold > 0.0; }
};

/// Where the weights of rows come from, as packed integers: round(y w * grid), with round(curvature * grid) in the
/// lower half when `pair`, times the row's integer weight. Of a sample the rows that are not taken have 0.
class WeightSource {
  public:
    double weight_grid = 1.0, curvature_grid = 1.0;
    const float* copies = nullptr;  // the integer weight of each row, null if every row counts once
    RowDraw draw;
    const int64_t* ready = nullptr;  // where all rows are packed already

    virtual ~WeightSource() = default;
    virtual bool pair() const = 0;
    /// Signed weights and curvatures in single precision; only a sample asks for them.
    virtual void floats(std::size_t begin, std::size_t n, float* weight, float* curvature) const = 0;
    /// The packed integers of all rows, without a sample.
    virtual void pack(std::size_t begin, std::size_t n, int64_t* out) const = 0;
    /// The packed integers of the rows that the sample takes, at most kRunRows, and their numbers; returns how many.
    std::size_t take(std::size_t begin, std::size_t n, int64_t* values, uint32_t* rows) const;
};

/// Weights computed by the caller.
class ArrayWeights final : public WeightSource {
  public:
    const float* signed_weight = nullptr;
    const float* curvature = nullptr;  // null: signed weights alone

    bool pair() const override { return curvature != nullptr; }
    void floats(std::size_t begin, std::size_t n, float* weight, float* curvature) const override;
    void pack(std::size_t begin, std::size_t n, int64_t* out) const override;
};

/// Which rows are summed: those whose mask byte is `wanted` (all when the mask is null).
struct RowChoice {
    const uint8_t* mask = nullptr;
    uint8_t wanted = 1;
};

/// Multiplies packed weights by the integer weights of their rows.
void repeat_packed(const float* copies, std::size_t n, int64_t* values);

/// Ends of the chunks: at most kChunkUnits rows, and at most that many units of multiplicity plus one row's.
std::vector<std::size_t> chunk_ends(std::size_t n_rows, const float* multiplicity);

/// Sets `words` (n_columns, 256) to the packed words of one chunk.
void packed_histogram(const Codes& codes, const WeightSource& weights, const RowChoice& choice, int64_t* words);

/// Adds to `sums` (n_columns, n_sums, 256), which the caller has cleared; n_sums is 2 with curvatures, else 1.
void histogram(const Codes& codes, const WeightSource& weights, const RowChoice& choice,
               const std::vector<std::size_t>& ends, int n_threads, int64_t* sums);

}  // namespace permissible::rules
