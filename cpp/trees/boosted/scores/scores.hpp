// The scores of the rows of a fit and what the loss says of them. The law: a leaf's step is decided by integer sums of
// w and k (losses/margin.hpp) over all its rows; `gradient` and `curvature`, one number per row, are what a search
// sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/large_pages.hpp"
#include "losses/passes.hpp"

namespace permissible::boosted {

/// Labels and weights of rows. Integer weights count as copies: numbers are rounded first and multiplied after.
struct Labels {
    std::size_t rows = 0;
    const uint16_t* target = nullptr;  // 0 to outputs - 1; of two classes 0 or 1
    const int32_t* copies = nullptr;
    const float* weight = nullptr;
};

/// Sums of each leaf and output, on the two grids.
struct LeafSums {
    LeafSums(std::size_t leaves, std::size_t outputs, double gradient_grid, double curvature_grid, bool exact)
        : outputs(outputs),
          exact(exact),
          gradient_grid(gradient_grid),
          curvature_grid(curvature_grid),
          gradient(leaves * outputs),
          curvature(leaves * outputs) {}
    std::size_t outputs;
    bool exact;  // terms of kExactBits bits instead of kSumBits
    double gradient_grid, curvature_grid;
    std::vector<int64_t> gradient, curvature;

    void merge(const LeafSums& other) {
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            gradient[i] += other.gradient[i];
            curvature[i] += other.curvature[i];
        }
    }
};

/// The largest terms of the sums of a leaf, over some rows: their grids follow from it.
struct Extremes {
    float gradient = 0.0f, curvature = 0.0f;
    void merge(const Extremes& other) {
        gradient = other.gradient > gradient ? other.gradient : gradient;
        curvature = other.curvature > curvature ? other.curvature : curvature;
    }
};

/// Of n rows.
Extremes extremes_of(const float* gradient, const float* curvature, std::size_t n);

/// How a loss lets a step be bounded: see `step_limit` in step.hpp.
struct StepRule {
    bool bounded_slope = false;  // |k'| <= slope k
    double slope = 1.0;
    double cap = 40.0;    // no step is longer
    double excess = 1.0;  // the true curvature is at most this many times the sum of k of each output
};

class Scores {
  public:
    virtual ~Scores() = default;
    virtual std::size_t outputs() const = 0;
    virtual StepRule rule() const = 0;
    /// The best constant score of each output where all scores are 0, given the weight of each class.
    virtual std::vector<double> constant(const std::vector<double>& class_weight) const = 0;
    /// Moves the scores of rows [begin, end) by the step of their leaf (leaves, outputs) and renews gradient and
    /// curvature; `signs` (one an output) says how the gradients of several outputs become one.
    virtual Extremes move(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step,
                          std::size_t leaves, const float* signs) = 0;
    /// Adds the sums at the scores moved by `step` (null: where they are). The derivatives there may be kept for a
    /// move.
    virtual void add_sums(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step,
                          std::size_t leaves, LeafSums& sums) = 0;
    /// The sum of the loss, on a grid of 2^36.
    virtual __int128 loss(std::size_t begin, std::size_t end) const = 0;

    const float* gradient() const { return gradient_.data(); }
    const float* curvature() const { return curvature_.data(); }

  protected:
    LargeVector<float> gradient_, curvature_;
};

inline constexpr double kLossGrid = 68719476736.0, kLargestLoss = 67108864.0;
inline constexpr int kSumBits = 18;    // of one number, so that kChunk of them fit 31 bits
inline constexpr int kExactBits = 30;  // where the step is to be exact

/// Two classes: one output, y in {-1, +1}, any functor. Null for an unknown name.
std::unique_ptr<Scores> make_binary_scores(const rules::Functor& loss, const Labels& labels);
/// K classes, each against the others with the functor of two. Null for an unknown name.
std::unique_ptr<Scores> make_class_scores(const rules::Functor& loss, const Labels& labels, std::size_t classes);
/// K classes with the logistic loss: softmax.
std::unique_ptr<Scores> make_softmax_scores(const Labels& labels, std::size_t classes);

}  // namespace permissible::boosted
