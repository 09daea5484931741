// Many trees as flat arrays, and their predictions for coded rows: f (n, M-1), every tree added to its coordinate (-1:
// to all of them).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/codes.hpp"

namespace permissible::mcboost {

struct Forest {
    const int32_t *column, *left, *right;
    const uint8_t* mask;         // (nodes, 32)
    const int32_t* first_node;   // (trees + 1)
    const int32_t* first_value;  // (trees + 1), offsets into value
    const int32_t* coordinate;   // (trees)
    const double* value;
    int trees, outputs;  // outputs = M - 1
};

/// Adds the trees [begin, end) to f (n, outputs), row-major.
void add_trees(const Codes& codes, const Forest& forest, int begin, int end, int threads, double* f);

}  // namespace permissible::mcboost
