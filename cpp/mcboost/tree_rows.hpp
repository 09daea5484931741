// Coded rows with their scores: what a part of the rows answers while a tree or rule is found and its step taken. The
// growers of trees/boosted search on one gradient a row, that along a direction of the scores; all rows or a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mcboost/row_scores.hpp"
#include "trees/boosted/codes.hpp"
#include "trees/boosted/growth/grow.hpp"
#include "trees/boosted/sample.hpp"

namespace permissible::mcboost {

/// A tree as its splits; of a rule also the leaf inside of it, and then all others are leaf 0 and that one is leaf 1.
struct Shape {
    std::vector<boosted::Split> splits;
    int inside = -1;
    std::size_t leaves() const { return inside < 0 ? splits.size() + 1 : 2; }
};

/// The direction of the next search, and the rows it uses: all, or those drawn by `key` and `mu`.
struct Outlook {
    Along along;
    bool sampled = false;
    uint32_t key = 0;
    float mu = 1.0f;
};

/// The largest terms, of leaf sums and of the rows searched, and how many rows (copies counted) were taken.
struct Seen {
    Terms terms;
    float gradient = 0.0f, curvature = 0.0f;
    int64_t taken = 0;
};

/// Sums of |g| and h over the rows searched, on the given grids.
struct SearchSizes {
    int64_t gradient = 0, curvature = 0;
};

class TreeRows {
  public:
    TreeRows(RowScores scores, boosted::Codes codes, std::vector<boosted::Column> columns, std::vector<uint32_t> hash,
             int threads);

    RowScores scores;
    std::size_t cells() const { return layout_.size() + 1; }
    bool hashed() const { return hashed_; }
    const std::vector<uint32_t>& hash() const { return own_hash_; }
    /// Looks at the hashes where they were put aside.
    void borrow_hash(const uint32_t* hash) { hash_ = hash, own_hash_ = std::vector<uint32_t>(); }
    /// Gives back what `restore` of the scores and `take` bring again.
    void drop();
    const std::vector<boosted::Column>& columns() const { return columns_; }

    /// Takes the steps (leaves, M) of a tree (none: derives where the scores are), then computes derivatives along a
    /// direction.
    Seen take(const Shape& tree, const double* step, const Outlook& outlook);
    MeasureSums measure() const;
    /// The sum of sqrt(g^2 + h^2 / 10), from which the first mu follows.
    int64_t sum_of_roots(float largest) const;
    SearchSizes sizes(float gradient_grid, float curvature_grid) const;
    /// The rows searched; `copies` (none: 1 each) of row i is that of row origin[i], or of i where origin is null.
    struct Searched {
        const boosted::Codes& codes;
        const float *gradient, *curvature;
        const std::vector<int32_t>& copies;
        const uint32_t* origin;
        int32_t times(std::size_t i) const { return copies.empty() ? 1 : copies[origin ? origin[i] : i]; }
    };
    Searched searched() const {
        if (!sampled_) return {codes_, scores.gradient(), scores.curvature(), scores.copies(), nullptr};
        return {sample_, taken_.gradient.data(), taken_.curvature.data(), scores.copies(), taken_.rows.data()};
    }
    /// Puts the rows searched on the grids of all parts.
    void pack(double gradient_grid, double curvature_grid);
    Shape grow(const boosted::TreeOptions& options, const std::vector<uint8_t>& used);
    /// The histogram of one leaf over the rows searched, and its total.
    void sum(const std::vector<boosted::Split>& splits, uint8_t wanted, const std::vector<uint8_t>& used,
             int64_t* cells) const;
    StepSums step_sums(const Shape& tree, double gradient_grid, double curvature_grid) const;
    LineSums slopes(const Shape& tree, const double* step, double alpha) const;

  private:
    std::vector<uint8_t> leaves_of(const Shape& tree, const boosted::Codes& codes) const;

    boosted::Codes codes_, sample_;
    std::vector<boosted::Column> columns_;
    boosted::CellLayout layout_;
    std::vector<uint32_t> own_hash_;
    const uint32_t* hash_;
    bool hashed_;
    int threads_;
    std::unique_ptr<boosted::Grower> grower_;  // kept, with its memory
    Along along_;
    bool sampled_ = false;
    boosted::Taken taken_;
    std::vector<int64_t> packed_;
    double gradient_grid_ = 1.0, curvature_grid_ = 1.0;
};

}  // namespace permissible::mcboost
