// The best split of a set of rows, from integer sums alone ("cells": moments by code). The choice is the same, bit for
// bit, for rows in this process and on workers. Moments of a row are its gradients, then its curvature, then its
// weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/grids.hpp"
#include "common/mixing.hpp"
#include "mcboost/trees.hpp"

namespace permissible::mcboost {

template <typename Sums>
Sums zeros(int width) {
    if constexpr (requires(Sums sums) { sums.resize(1); })
        return Sums(width, 0);
    else
        return Sums{};
}

struct Grids {
    double gradient, curvature, weight;
};

inline CodeSet prefix_mask(int code, bool missing_left) {
    CodeSet mask{};
    for (int c = 0; c <= code; ++c) insert(mask, c);
    if (missing_left) insert(mask, kMissingCode);
    return mask;
}

/// The columns that a tree may use: a fraction of them, drawn by the seed, in order.
std::vector<int> chosen_columns(int columns, double share, uint64_t seed);

/// Cells of a column: one per bin and one for missing values (the last), or 256 for categories.
inline int cells_of(bool categorical, int bins) { return categorical ? 256 : bins + 1; }

/// Gains that differ by less than this fraction of their sums are equal up to rounding: the first one is kept.
inline constexpr double kRounding = 1e-12;

template <typename Sums>
struct Split {
    double gain = 0;
    double noise = 0;  // bound on the rounding error of the gain
    int column = -1, code = -1;
    bool side_left = true;  // for rules: which side stays covered
    CodeSet mask{};
    Sums left{};

    bool better_than(const Split& other) const { return gain > other.gain + noise; }
};

/// A random split: a threshold between the smallest and the largest code of the rows, or a set of categories.
struct RandomTest {
    bool exists = false;
    int code = -1;
    CodeSet mask{};
};
RandomTest random_test(bool categorical, int low, int high, bool has_missing, uint64_t seed);

template <typename Sums>
class Chooser {
  public:
    Chooser(const TreeLimits& growth, const Grids& grids, int outputs, bool rule)
        : growth_(growth), grids_(grids), outputs_(outputs), width_(outputs + 2), rule_(rule) {
        least_ = growth.min_leaf_weight * (1 - 1e-9) * grids.weight;
    }

    Sums everything{};

    int width() const { return width_; }
    const Grids& grids() const { return grids_; }

    void add(Sums& to, const int64_t* from) const {
        for (int k = 0; k < width_; ++k) to[k] += from[k];
    }
    Sums difference(const Sums& a, const Sums& b) const {
        Sums out = a;
        for (int k = 0; k < width_; ++k) out[k] -= b[k];
        return out;
    }

    double score(const Sums& sums) const {
        double squares = 0;
        for (int r = 0; r < outputs_; ++r) {
            const double g = static_cast<double>(sums[r]) / grids_.gradient;
            squares += g * g;
        }
        return squares / (static_cast<double>(sums[outputs_]) / grids_.curvature + growth_.l2 + 1e-12);
    }

    bool consider(Split<Sums>& best, const Sums& total, const Sums& left, int column, int code) const {
        const Sums right = difference(total, left);
        if (!large_enough(left) || !large_enough(right)) return false;
        double gain = 0, noise = 0;
        bool side_left = true;
        if (rule_) {  // inside against everything outside, for either side of the test
            gain = score(left) + score(difference(everything, left));
            const double other = score(right) + score(difference(everything, right));
            if (other > gain * (1 + kRounding)) gain = other, side_left = false;
            noise = kRounding * gain;
        } else {
            gain = score(left) + score(right);
            noise = kRounding * gain;
            gain -= score(total);
        }
        if (!(gain > best.gain + noise)) return false;
        best.gain = gain;
        best.noise = noise;
        best.column = column;
        best.code = code;
        best.side_left = side_left;
        best.left = left;
        return true;
    }

    /// The best split of one column; consecutive cells are `stride` apart.
    Split<Sums> of_cells(const Sums& total, int column, bool categorical, int bins, const int64_t* cells,
                         std::size_t stride) const {
        if (categorical) return of_categories(total, column, cells, stride);
        const int64_t* missing = cells + static_cast<std::size_t>(bins) * stride;
        Split<Sums> best;
        bool best_missing_left = false;
        for (const bool missing_left : {false, true}) {
            if (missing_left && missing[outputs_ + 1] == 0) break;
            Sums left = zeros<Sums>(width_);
            if (missing_left) add(left, missing);
            for (int c = 0; c < bins; ++c) {
                const int64_t* cell = cells + c * stride;
                if (cell[outputs_ + 1] == 0) continue;
                add(left, cell);
                if (consider(best, total, left, column, c)) best_missing_left = missing_left;
            }
        }
        if (best.column >= 0) best.mask = prefix_mask(best.code, best_missing_left);
        return best;
    }

    /// A random split of one column, from cells that count their rows after the moments.
    Split<Sums> random_of_cells(const Sums& total, int column, bool categorical, int bins, const int64_t* cells,
                                std::size_t stride, uint64_t seed) const {
        const int count = cells_of(categorical, bins);
        int low = kMissingCode, high = -1;
        bool has_missing = false;
        for (int c = 0; c < count; ++c) {
            if (cells[c * stride + width_] == 0) continue;
            if (!categorical && c == bins) {
                has_missing = true;
                continue;
            }
            low = std::min(low, c);
            high = std::max(high, c);
        }
        Split<Sums> best;
        const RandomTest test = random_test(categorical, low, high, has_missing, seed);
        if (!test.exists) return best;
        Sums left = zeros<Sums>(width_);
        for (int c = 0; c < count; ++c)
            if (in_set(test.mask.data(), !categorical && c == bins ? kMissingCode : c)) add(left, cells + c * stride);
        if (consider(best, total, left, column, test.code)) best.mask = test.mask;
        return best;
    }

    /// The values of the leaves, and how much of the weight they agree with: sum of -w g over sum of |w| max |g|.
    void finish(Tree& tree, const std::vector<Sums>& leaves, int64_t size) const {
        double agreed = 0, largest = 0;
        for (const Sums& sums : leaves) {
            const double h = static_cast<double>(sums[outputs_]) / grids_.curvature + growth_.l2;
            for (int r = 0; r < outputs_; ++r) {
                const double g = static_cast<double>(sums[r]) / grids_.gradient;
                tree.value.push_back(h > 0 ? -g / h : 0.0);
                agreed -= g * tree.value.back();
                largest = std::max(largest, std::abs(tree.value.back()));
            }
        }
        const double total = static_cast<double>(size) / grids_.gradient;
        tree.edge = total > 0 && largest > 0 ? agreed / (total * largest) : 0.0;
    }

  private:
    bool large_enough(const Sums& sums) const {
        return sums[outputs_ + 1] > 0 && static_cast<double>(sums[outputs_ + 1]) >= least_;
    }

    Split<Sums> of_categories(const Sums& total, int column, const int64_t* cells, std::size_t stride) const {
        const auto cell = [&](int c) { return cells + c * stride; };
        std::vector<int> order;  // by the mean gradient of the categories (Fisher): exact for one output
        for (int c = 0; c < 256; ++c)
            if (cell(c)[outputs_ + 1] != 0) order.push_back(c);
        const auto mean = [&](int c) {
            return static_cast<double>(cell(c)[0]) / (static_cast<double>(cell(c)[outputs_]) + 1e-300);
        };
        std::sort(order.begin(), order.end(),
                  [&](int a, int b) { return mean(a) != mean(b) ? mean(a) < mean(b) : a < b; });
        Split<Sums> best;
        Sums left = zeros<Sums>(width_);
        CodeSet mask{};
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
            add(left, cell(order[k]));
            insert(mask, order[k]);
            if (consider(best, total, left, column, -1)) best.mask = mask;
        }
        return best;
    }

    TreeLimits growth_;
    Grids grids_;
    int outputs_, width_;
    bool rule_;
    double least_ = 0;
};

}  // namespace permissible::mcboost
