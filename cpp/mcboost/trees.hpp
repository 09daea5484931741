// Regression trees and rules on boosting weights: grown on uint8 codes, by integer sums, so that neither threads nor
// the order of rows show. A leaf holds -sum(w) / (sum(h) + l2) for each output, the Newton step of the surrogate there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace permissible::mcboost {

/// Codes of the training rows: blocks of 8 columns, (n_blocks, n, 8); 255 is missing.
struct Codes {
    const uint8_t* blocks;
    std::size_t rows;
    int columns;
    const uint8_t* categorical;  // (columns)
    const int32_t* bins;         // (columns): value codes are below it
    const uint8_t* column(int c) const { return blocks + (static_cast<std::size_t>(c / 8) * rows) * 8 + c % 8; }
};

struct Growth {
    int max_leaves, max_depth;  // of a tree
    int max_literals;           // of a rule; 0 grows a tree
    double min_leaf_weight, l2;
    bool random_thresholds;  // one random test per column and node instead of the best
    double column_share;     // of the columns, drawn for each tree
    uint64_t seed;
};

using Mask = std::array<uint8_t, 32>;  // one bit per code: set goes left
inline bool in_mask(const Mask& mask, uint8_t code) {
    return (mask[code >> 3] >> (code & 7)) & 1;
}

/// Nodes in order of creation; a child >= 0 is a node, ~leaf otherwise. `code` is the last code on the left, -1 for
/// categories.
struct Tree {
    std::vector<int32_t> column, code, left, right;
    std::vector<Mask> mask;
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
Tree grow(const Codes& codes, const Moments& moments, const Growth& growth, int threads,
          std::vector<int32_t>& leaf_of_row);

}  // namespace permissible::mcboost
