// Best-first growth of a tree (UDT, section 4.2 of [T]): always the leaf and the cut that lower the surrogate most.
#pragma once

#include <cstdint>
#include <vector>

#include "histogram/by_class.hpp"
#include "losses/impurity.hpp"
#include "trees/find_split.hpp"

namespace permissible::trees {

/// Nodes in the order of creation: the t-th split makes the nodes 2t + 1 (left) and 2t + 2 (right).
struct Tree {
    std::vector<std::int32_t> left, right, column, code;
    std::vector<std::int8_t> test;
    std::vector<CodeSet> left_set;
    std::vector<double> sums;               // class weights, node-major
    std::vector<double> value;              // impurity of each node
    std::vector<std::int64_t> samples;      // rows of each node
    std::vector<std::int32_t> split_order;  // node split at each step
    std::vector<double> gain;               // decrease at each step
    std::vector<std::int32_t> leaf_of_row;  // on demand: the node each row ends in; -1 for weight 0
};

template <typename Sum>
Tree grow(const RowBlocks<Sum>& rows, const Impurity& impurity, const Options& options);

}  // namespace permissible::trees
