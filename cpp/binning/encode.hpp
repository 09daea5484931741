// Values to uint8 codes in blocks of 8 columns: code = number of thresholds below the value, 255 for a missing one.
#pragma once

#include <cstdint>
#include <vector>

#include "common/codes.hpp"
#include "common/columns.hpp"

namespace permissible::binning {

/// How one column is coded: thresholds (numeric) or a code for each category.
struct Coder {
    const double* thresholds;
    size_t n_thresholds;
    const uint8_t* code_of_category;
    size_t n_categories;
};

/// Writes (n_blocks, n_rows, 8) codes; lanes beyond the last column are 0.
void encode(const std::vector<ColumnView>& columns, const std::vector<Coder>& coders, uint8_t* blocks, size_t n_rows,
            int n_threads);

}  // namespace permissible::binning
