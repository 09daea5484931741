// The scores of the training rows, and what a round of Algorithm 1 [B] needs of them, class by class (class-major
// arrays, so that every pass runs over rows). A whole round of M-1 coordinate steps costs O(n M): see
// losses/multiclass.hpp for why.
//
// Sums over rows are exact (exact.hpp): they do not depend on the number of threads, row order or parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/exact.hpp"
#include "common/large_pages.hpp"
#include "losses/multiclass.hpp"
#include "mcboost/line_search.hpp"
#include "mcboost/passes.hpp"

namespace permissible::mcboost {

inline constexpr std::size_t kChunk = 1024;  // rows per block of a pass
inline constexpr double kExponentLimit = 300.0;

struct RoundStart {
    double surrogate, cost, error;
};

/// The same, and the slopes of a line search, as exact sums: those of parts of the rows merge to those of all.
struct RoundSums {
    Accumulator surrogate, cost, error;
    std::vector<int64_t> confusions;  // (M, M), where rows are counted: not yet in cost and error
};
struct SlopeSums {
    Accumulator first, second;
};

class State {
  public:
    State(std::size_t rows, int classes, Loss loss, int threads);

    std::size_t rows() const { return rows_; }
    int classes() const { return classes_; }
    int threads() const { return threads_; }

    // Filled by the caller before the first round.
    LargeVector<double> scores;     // (M, n)
    LargeVector<double> costs;      // (M, n), or (M, M) indexed [z][j] when shared
    bool shared_costs = true;       // whether all rows of a class have the same costs
    std::vector<int32_t> target;    // class of each row
    std::vector<double> weight;     // of each row
    LargeVector<double> gradient;   // (n) or (M-1, n): weighted derivative along the coordinate(s), after a call below
    LargeVector<double> curvature;  // (n)
    std::vector<double> step;       // (n): g of each row, written by the learner before `search`

    /// Call once when costs and target are filled.
    void prepare();
    /// Call when the scores were written from outside.
    void scores_changed() { begun_ = false; }
    /// Prepares the sums of all coordinates (unless the end of the last round has done so); returns the sums of the
    /// surrogate, of the cost of argmax and of its errors.
    RoundStart begin_round();
    RoundSums begin_round_sums();
    /// Slopes along the step (or along `directions`, for coordinate -1) at f + alpha * step.
    SlopeSums slopes_at(int coordinate, double alpha) const;
    /// gradient and curvature along coordinate r.
    void derive(int coordinate);
    /// Exact minimisation over alpha of the surrogate at f_r + alpha * step.
    LineSearch search(int coordinate);
    /// The same along a step, or (-1) along `directions`, that moves no score by more than `reach` for a unit of alpha;
    /// `penalty` / 2 alpha^2 is added to the surrogate.
    LineSearch search_within(int coordinate, double reach, double penalty = 0.0) const;
    /// f_r += factor * step.
    void advance(int coordinate, double factor);
    /// The scores after the steps of all coordinates.
    void finish_round();

    /// gradient (M-1, n) with respect to every coordinate of f; `curvature` is its norm.
    void derive_all();
    /// Moves along `directions` (M, n): score directions of every class.
    LargeVector<double> directions;
    LineSearch search_all();
    void advance_all(double factor);

    double cost_of(std::size_t row, int cls) const {
        return shared_costs ? costs[static_cast<std::size_t>(target[row]) * classes_ + cls] : costs[cls * rows_ + row];
    }
    double coordinate_scale(int coordinate) const;

    /// directions = Y f / 2 for steps f (M-1, n).
    void directions_from_step(const std::vector<double>& f);
    /// Everything that passes leave behind for the next one, (fields, n); `restore` takes it back.
    std::size_t fields() const;
    void save(double* out) const;
    void restore(const double* in);

  private:
    template <typename Visit>
    void each_field(Visit&& visit) const;
    struct Block {
        std::size_t begin, end;
    };
    struct Leaders {  // of each row of a block, the largest score and the first class that has it
        double top[kChunk], best[kChunk];
    };
    Block block(std::size_t index) const;
    std::size_t blocks() const { return (rows_ + kChunk - 1) / kChunk; }
    template <Loss L>
    void begin_block(Block rows, const Leaders& leaders, RoundSums& sums);
    template <Loss L>
    void add_values(Block rows, double* value, Accumulator& sum) const;
    void add_choices(Block rows, const double* best, RoundSums& sums) const;
    void add_confusions(RoundSums& sums) const;
    /// Begins a round, block by block, each right after `move` has changed its scores and found their leaders.
    RoundSums begin_after(const std::function<void(Block, Leaders&)>& move);
    void find_leaders(Block rows, Leaders& leaders) const;
    void finish_by_steps(Block rows, Leaders& leaders);
    GllCoordinate gll_view(Block rows, int coordinate) const;
    template <Loss L>
    void derive_block(Block rows, int coordinate);
    template <Loss L>
    void slopes_block(Block rows, int coordinate, double alpha, SlopeSums& sums) const;
    template <Loss L>
    void advance_block(Block rows, int coordinate, double factor);
    template <Loss L>
    void derive_all_block(Block rows);
    template <Loss L>
    void derive_all_row(std::size_t row);
    template <Loss L>
    void slopes_all_block(Block rows, double alpha, SlopeSums& sums) const;
    Slopes pair_slopes(std::size_t i, double alpha, std::vector<double>& factors) const;

    RoundSums started_;
    bool begun_ = false;  // whether `started_` and all that begin_round prepares belong to the scores as they are
    bool weighted_ = true;
    std::size_t rows_;
    int classes_;
    Loss loss_;
    int threads_;
    bool uniform_ = false;                               // whether every factor below is 1
    LargeVector<double> factors_;                        // costs with what the loss puts in place of the diagonal
    LargeVector<double> terms_, tails_;                  // (M, n): C_zj e^{S_j}, and the sum over the classes above
    LargeVector<double> inverse_terms_, inverse_tails_;  // (M, n): the same of e^{-S_j}, for L_t
    LargeVector<double> low_, low_inverse_, scale_;      // (n): carried from coordinate to coordinate
};

}  // namespace permissible::mcboost
