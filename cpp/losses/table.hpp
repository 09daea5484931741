// The table of a loss (permissible/losses/own/tabulation.py): for a margin t >= 0 the weight as a polynomial on each of
// many cells. This file has only the layout and the lookup of the cell of a margin.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace permissible::rules {

class LossTable {
  public:
    static constexpr int kDegree = 5;
    static constexpr int kBucketBits = 7;  // leading bits of the mantissa of 1 + t / unit that name a bucket

    struct alignas(64) Cell {        // one cache line
        double weight[kDegree + 1];  // coefficients of the weight in y, lowest power first
        double centre, per_half;
    };

    /// `breaks` has one entry more than there are cells, `weight` kDegree + 1 entries for each cell. Buckets are
    /// narrow where t is small relative to `unit` or near it, and grow with t beyond. Curvatures are cut at
    /// `largest_curvature`.
    LossTable(const double* breaks, const double* weight, const double* value, std::size_t n_cells, double unit,
              double largest_curvature)
        : cells_(n_cells), left_(breaks, breaks + n_cells), value_(value, value + n_cells), steepest_(n_cells) {
        if (n_cells == 0 || breaks[0] != 0.0 || !(unit > 0.0))
            throw std::invalid_argument("a table begins at margin 0");
        for (std::size_t i = 0; i < n_cells; ++i) {
            if (!(breaks[i] < breaks[i + 1]) || !std::isfinite(breaks[i + 1])) {
                throw std::invalid_argument("the cells of a table must follow each other");
            }
            const double half = 0.5 * (breaks[i + 1] - breaks[i]);
            std::copy_n(weight + i * (kDegree + 1), kDegree + 1, cells_[i].weight);
            cells_[i].centre = breaks[i] + half, cells_[i].per_half = 1.0 / half;
            double steepest = 0.0;  // of the derivative, whose terms are bounded by their coefficients
            for (int k = 1; k <= kDegree; ++k) steepest += k * std::fabs(cells_[i].weight[k]);
            steepest = std::min(steepest * cells_[i].per_half, largest_curvature);
            steepest_[i] = i == 0 ? steepest : std::max(steepest, steepest_[i - 1]);
        }
        largest_curvature_ = largest_curvature;
        end_ = breaks[n_cells];
        per_unit_ = 1.0 / unit;
        for (std::size_t bucket = 0, cell = 0;; ++bucket) {
            const auto border = [&](std::size_t b) {
                return (std::bit_cast<double>((b << kShift) + kOne) - 1.0) * unit;
            };
            const double from = border(bucket), to = border(bucket + 1);
            while (cell + 1 < n_cells && breaks[cell + 1] <= from) ++cell;
            std::size_t last = cell;
            while (last + 1 < n_cells && breaks[last + 1] < to) ++last;
            buckets_.push_back({static_cast<uint32_t>(cell), static_cast<uint32_t>(last)});
            if (!(from <= end_)) break;
        }
    }

    double end() const { return end_; }
    double largest_curvature() const { return largest_curvature_; }
    /// A bound of the curvature over margins of at most this size.
    double largest_curvature(double size) const { return steepest_[cell_of(size)]; }

    const Cell& operator[](std::size_t cell) const { return cells_[cell]; }
    double value(std::size_t cell) const { return value_[cell]; }  // psi at the centre

    /// The cell of a margin t >= 0; the last one beyond the end.
    std::size_t cell_of(double t) const {
        if (!(t < end_)) return cells_.size() - 1;
        const Bucket bucket = buckets_[(std::bit_cast<uint64_t>(1.0 + t * per_unit_) - kOne) >> kShift];
        uint32_t low = bucket.first, high = bucket.last + 1;
        while (high - low > 1) [[unlikely]] {  // the last cell whose left end is not beyond t
            const uint32_t middle = (low + high) / 2;
            (left_[middle] <= t ? low : high) = middle;
        }
        return low;
    }

  private:
    struct Bucket {
        uint32_t first, last;  // the cells that reach into it: one, except next to kinks and to the end
    };
    static constexpr int kShift = 52 - kBucketBits;
    static constexpr uint64_t kOne = std::bit_cast<uint64_t>(1.0);
    std::vector<Cell> cells_;
    std::vector<double> left_, value_;
    std::vector<double> steepest_;  // bound of the curvature on a cell and all before it
    std::vector<Bucket> buckets_;
    double end_ = 0.0, per_unit_ = 1.0, largest_curvature_ = 0.0;
};

}  // namespace permissible::rules
