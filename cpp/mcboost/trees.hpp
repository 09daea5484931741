// Regression trees and rules on boosting weights: grown on uint8 codes, by integer sums, so that the result depends
// neither on threads nor on row order. A leaf holds -sum(w) / (sum(h) + l2) for each output, the Newton step of the
// surrogate there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/codes.hpp"

namespace permissible::mcboost {

struct TreeLimits {
    int max_leaf_nodes, max_depth;  // of a tree
    int max_literals;               // of a rule; 0 grows a tree
    double min_leaf_weight, l2;
    bool random_thresholds;  // one random split per column and node instead of the best
    double column_share;     // of the columns, drawn for each tree
    uint64_t seed;
};

/// Nodes in order of creation; a child >= 0 is a node, ~leaf otherwise. `code` is the last code on the left, -1 for
/// categories.
struct Tree {
    std::vector<int32_t> column, code, left, right;
    std::vector<CodeSet> mask;
    std::vector<double> value;  // (leaves, outputs)
    int outputs = 1;
    double edge = 0;  // how much of the weight of the rows of the fit it agrees with, in [-1, 1]
    int leaves() const { return static_cast<int>(value.size()) / outputs; }
};

/// What the trees are fitted to: gradients (outputs, n), one curvature and one weight per row.
struct Moments {
    const double* gradient;
    const double* curvature;
    const double* weight;
    const double* share;  // null, or 0 for the rows that are left out of the fit
    std::size_t rows;
    int outputs;
};

/// Grows one tree or rule; writes the leaf of every row, also of those left out of the fit.
Tree grow(const Codes& codes, const Moments& moments, const TreeLimits& growth, int threads,
          std::vector<int32_t>& leaf_of_row);

}  // namespace permissible::mcboost
