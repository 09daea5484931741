// The scores of rows that trees and rules move, row by row, and the five losses of [B] at these scores.
//
// A row keeps q = softmax(S), from which every loss follows, since S sums to 0 over the classes: with N the
// sum of C_zj q_j over j != z and R that of 1 / q_j,
//   GLL = log(1 + N / q_z),  GEL = N / q_z,  MC = 1 + GEL without costs,  L_t = N R,  L_s = N Z,  Z the sum of e^S.
// A step multiplies q by the factors of a leaf, so no exponential is taken per row. Sums over rows are integers or
// exact (exact.hpp): they do not depend on threads, row order or parts. A row of integer weight counts as that many
// rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/exact.hpp"
#include "common/large_pages.hpp"
#include "losses/multiclass.hpp"

namespace permissible::mcboost {

/// The direction of a search: the weight of each class, and whether the step will be along it (one number per leaf) or
/// free in every class.
struct Along {
    std::vector<double> weight;
    bool coordinate = false;
};

/// The largest terms of the sums of a leaf.
struct Terms {
    double gradient = 0.0, curvature = 0.0;
    void merge(const Terms& other) {
        gradient = other.gradient > gradient ? other.gradient : gradient;
        curvature = other.curvature > curvature ? other.curvature : curvature;
    }
};

/// Integer sums of each leaf and output, on two grids; downhill is positive.
struct StepSums {
    StepSums(std::size_t leaves, std::size_t outputs) : gradient(leaves * outputs), curvature(leaves * outputs) {}
    std::vector<int64_t> gradient, curvature;
    void merge(const StepSums& other);
};

struct MeasureSums {
    Accumulator surrogate, cost, error;
    void merge(const MeasureSums& other);
};

struct LineSums {
    Accumulator first, second;
};

/// What a step moves, and what follows from it.
struct Moving {
    LargeVector<double> q_;               // (n, width)
    std::vector<double> spread_, value_;  // (n): Z of L_s; the surrogate, of GLL before its logarithm
    std::vector<double> slope_, bend_;    // (n): the derivatives along a coordinate; else of GLL 1 / (N + q_z)
    LargeVector<float> gradient_, curvature_;
};

class RowScores : Moving {
  public:
    /// `costs` is (M, M) by class where `shared`, else (n, M).
    RowScores(Loss loss, std::size_t classes, std::vector<uint16_t> target, const double* costs, bool shared,
              const double* weight);

    std::size_t rows() const { return target_.size(); }
    std::size_t classes() const { return classes_; }
    /// Outputs of a leaf: 1 along a coordinate, else the classes, padded.
    std::size_t outputs(bool coordinate) const { return coordinate ? 1 : width_; }
    const std::vector<int32_t>& copies() const { return copies_; }
    const float* gradient() const { return gradient_.data(); }
    const float* curvature() const { return curvature_.data(); }

    void set_scores(const double* scores);  // (n, M)
    void scores(double* out) const;
    /// What has to be kept between two steps, (fields, n) flat.
    std::size_t fields() const { return classes_ + (loss_ == Loss::ls); }
    void save(double* out) const;
    void restore(const double* in);
    /// Gives back the memory of all that `restore` and `move` bring again; the next rows of this thread use it.
    void drop();

    /// Factors of the steps (leaves, M) of leaves.
    std::vector<double> factors(const double* step, std::size_t leaves) const;
    /// Moves rows [begin, end) by the factors of their leaf, and derives `along`.
    Terms move(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* factor, const Along& along);
    void add_sums(std::size_t begin, std::size_t end, const uint8_t* leaf, const Along& along, double gradient_grid,
                  double curvature_grid, StepSums& sums) const;
    /// Surrogate, cost and errors of the rows as they are after `move`.
    void measure(std::size_t begin, std::size_t end, MeasureSums& sums) const;
    /// First and second derivative at the scores plus alpha times the steps (leaves, M) of the leaves.
    void slopes(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step, std::size_t leaves,
                double alpha, LineSums& sums) const;

  private:
    const double* costs_of(std::size_t row) const { return &factor_[(shared_ ? target_[row] : row) * width_]; }
    double weight_of(std::size_t row) const { return weight_.empty() ? 1.0 : weight_[row]; }
    int64_t copies_of(std::size_t row) const { return copies_.empty() ? 1 : copies_[row]; }
    template <Loss L>
    friend struct RowPasses;
    void make_room();

    Loss loss_;
    std::size_t classes_, width_;
    bool shared_;
    double largest_weight_ = 1.0;
    std::vector<uint16_t> target_;
    std::vector<int32_t> copies_;  // of rows of integer weight, 1 for others; empty where all are 1
    std::vector<double> weight_;   // of the others
    LargeVector<double> factor_;   // costs, 0 for the own class; (M or n, width)
    std::vector<double> charged_;  // the costs of MC, which its surrogate ignores
};

}  // namespace permissible::mcboost
