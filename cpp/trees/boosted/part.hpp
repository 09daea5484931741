// The training rows of a fit of boosted trees, wherever they lie. The law: a round asks for integer sums over all rows
// (`sums`), takes a step and draws the rows of the next search (`move`); answers of parts add up, so the trees do not
// depend on how the rows are divided.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trees/boosted/sample.hpp"
#include "trees/boosted/scores/scores.hpp"

namespace permissible::boosted {

/// Coded rows, labels and scores of one part of a fit.
struct FitRows {
    const Codes* codes = nullptr;
    Labels labels;
    std::unique_ptr<Scores> scores;
    const uint32_t* hash = nullptr;  // of the content of each row; null where no row is sampled
    std::vector<uint8_t> leaf;
};

/// A step of each leaf and output, and how the rows of the next search are drawn.
struct MoveRequest {
    const double* step = nullptr;
    std::size_t leaves = 1;
    std::vector<float> signs;  // of each output
    bool sampled = false;
    uint32_t key = 0;
    float mu = 1.0f;
    bool track_loss = false;
};

struct Moved {
    Extremes extremes;
    int64_t taken = 0;                // rows drawn, copies counted
    __int128 loss = 0, held_out = 0;  // on the grid of losses
};

class TrainingRows {
  public:
    virtual ~TrainingRows() = default;
    /// Sums at a step, or where the scores are (null); given a tree, the leaves of all rows are found first.
    virtual LeafSums sums(const LeafSums& empty, std::size_t leaves, const double* step, const Tree* tree) = 0;
    virtual Moved move(const MoveRequest& request) = 0;
    /// The sum of the sizes of gradients (sample.hpp), on the grid of `largest`.
    virtual int64_t sizes(float largest) = 0;
    /// The rows drawn by the last move, all where none were drawn; gradients packed, `share` not yet known.
    virtual SearchRows searched() = 0;
};

/// Rows of this process; `held_out` may be null.
class Part final : public TrainingRows {
  public:
    Part(FitRows& rows, FitRows* held_out, int threads);
    LeafSums sums(const LeafSums& empty, std::size_t leaves, const double* step, const Tree* tree) override;
    Moved move(const MoveRequest& request) override;
    int64_t sizes(float largest) override;
    SearchRows searched() override;

    /// The rows drawn by the last move, of all threads.
    const Taken& taken();
    const FitRows& rows() const { return rows_; }

  private:
    void find_leaves_of(FitRows& rows, const Tree& tree) const;
    __int128 loss_of(const FitRows& rows) const;

    FitRows& rows_;
    FitRows* held_;
    int threads_;
    bool sampled_ = false;
    Draw draw_;
    std::vector<Taken> taken_;
    Codes sample_;
    PackedRows packed_;
};

}  // namespace permissible::boosted
