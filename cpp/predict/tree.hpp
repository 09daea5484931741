// The leaf of each row of a table. Columns are read in place: floats are compared with thresholds, categories looked up
// in a table of codes; nothing is binned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/columns.hpp"

namespace permissible::trees {

struct Nodes {
    std::size_t n_nodes;
    const std::int32_t *left, *right, *column;
    const double* threshold;
    const std::int8_t* test;
    const std::uint8_t* left_set;          // (n_nodes, 32)
    const std::uint8_t* code_of_category;  // per column a run: category -> code
    const std::int64_t* category_begin;    // n_columns + 1
    int other;                             // code of a category that is not in its run
};

void find_leaves(const Nodes& tree, const std::vector<ColumnView>& columns, std::size_t n_rows, std::int32_t* leaf,
                 int threads);

}  // namespace permissible::trees
