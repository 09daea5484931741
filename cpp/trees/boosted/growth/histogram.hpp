// Histograms of boosted trees: of every code of every column the sum of gradients and of curvatures of the rows that
// hold it. The law: both are integers and travel in one 64-bit integer, the gradient in the upper half, so that
// histograms add and subtract exactly, in any order and over any parts of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/boosted/codes.hpp"

namespace permissible::boosted {

/// (sum of gradients << 32) + sum of curvatures; the latter is never negative, so the halves read as they are.
struct Sums {
    int64_t packed = 0;
    int32_t gradient() const { return static_cast<int32_t>(packed >> 32); }
    int32_t curvature() const { return static_cast<int32_t>(packed); }
};

/// Where the cells of each column lie. A numeric column has running sums up to each of its codes without missing ones,
/// padded to eights with the last; a categorical one has a cell a code, then one for rare categories and one for
/// missing values.
class CellLayout {
  public:
    CellLayout() = default;
    explicit CellLayout(const std::vector<Column>& columns);
    std::size_t size() const { return size_; }
    std::size_t begin(std::size_t column) const { return begin_[column]; }
    int width(std::size_t column) const { return static_cast<int>(begin_[column + 1] - begin_[column]); }

  private:
    std::vector<std::size_t> begin_;
    std::size_t size_ = 0;
};

/// Some of the rows searched: their numbers (null: all rows), and the packed gradients of all.
struct RowList {
    const uint32_t* rows = nullptr;
    const int64_t* packed = nullptr;
    std::size_t count = 0;
};

/// Sums the rows of lists over the used columns of one block, and writes them in the form of the layout.
void sum_block(const Codes& codes, std::size_t block, const std::vector<RowList>& lists,
               const std::vector<Column>& columns, const uint8_t* used, const CellLayout& layout, int64_t* cells);

/// larger -= smaller, over one column's cells.
void subtract(int64_t* larger, const int64_t* smaller, std::size_t n);

}  // namespace permissible::boosted
