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
inline constexpr std::size_t kRunRows = 512;  // rows that a sampled search takes or leaves together

/// Where the weights of rows come from, as packed integers: round(y w * grid), with round(curvature * grid) in the
/// lower half when `pair`, times the row's integer weight.
class WeightSource {
  public:
    virtual ~WeightSource() = default;
    virtual bool pair() const = 0;
    virtual void pack(std::size_t begin, std::size_t n, int64_t* out) const = 0;
    /// The integer weight of each row, null if every row counts once.
    virtual const float* multiplicity() const = 0;
};

/// Weights computed by the caller.
class ArrayWeights final : public WeightSource {
  public:
    const float* signed_weight = nullptr;
    const float* curvature = nullptr;  // null: signed weights alone
    const float* copies = nullptr;
    double weight_grid = 1.0;
    double curvature_grid = 1.0;

    bool pair() const override { return curvature != nullptr; }
    const float* multiplicity() const override { return copies; }
    void pack(std::size_t begin, std::size_t n, int64_t* out) const override;
};

/// Whether a sampled search takes this run of rows.
bool run_taken(uint64_t run, uint64_t seed, double share);

/// A fraction of the runs of rows. The parts of a table agree on it, since runs are counted over the whole table.
struct Sample {
    double share = 1.0;
    uint64_t seed = 0;
    uint64_t first_row = 0;  // global number of row 0

    bool operator==(const Sample&) const = default;
    bool whole() const { return share >= 1.0; }

    /// Calls work(from, to) for the taken rows of [begin, end), a run (or all of them) at a time.
    template <class Work>
    void over(std::size_t begin, std::size_t end, Work work) const {
        if (whole()) return work(begin, end);
        for (std::size_t row = begin; row < end;) {
            const uint64_t run = (first_row + row) / kRunRows;
            const std::size_t run_end = std::min<std::size_t>(end, (run + 1) * kRunRows - first_row);
            if (run_taken(run, seed, share)) work(row, run_end);
            row = run_end;
        }
    }
};

/// Which rows are summed: those of a sample whose mask byte is `wanted` (all when the mask is null).
struct RowChoice {
    const uint8_t* mask = nullptr;
    uint8_t wanted = 1;
    Sample sample;
};

/// Multiplies packed weights by the integer weights of their rows.
void repeat_packed(const float* copies, std::size_t n, int64_t* values);

/// Ends of the chunks: at most kChunkUnits rows, and at most that many units of multiplicity plus one row's.
std::vector<std::size_t> chunk_ends(std::size_t n_rows, const float* multiplicity);

/// Adds to `sums` (n_columns, n_sums, 256), which the caller has cleared; n_sums is 2 with curvatures, else 1.
void histogram(const Codes& codes, const WeightSource& weights, const RowChoice& choice,
               const std::vector<std::size_t>& ends, int n_threads, int64_t* sums);

}  // namespace permissible::rules
