// The rows of one search next to each other: their packed weights and their codes. A literal divides a table; the rows
// on one side of it make a smaller one, so that deeper literals visit fewer rows, in the order of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/large_pages.hpp"
#include "histogram/packed.hpp"
#include "rules/rule.hpp"

namespace permissible::rules {

class RowTable {
  public:
    /// All rows, whose codes stay where they are, or those that a sample takes. Where `shares`, both sums of a column
    /// and code come in one word if rows are few.
    void fill(const Codes& codes, const WeightSource& weights, int n_threads, bool shares);
    /// The rows of another table on one side of the literal that it was divided by last.
    void fill(const RowTable& parent, bool inside);

    /// Flags the rows inside of a literal; returns how many they are.
    std::size_t divide(const LiteralMask& literal);
    /// The sums over the rows on one side of that literal, or over all of them if `side` is null.
    void sum(const bool* side, int64_t* sums) const;

    std::size_t rows() const { return n_rows_; }
    /// Sums of a column and code: one where both share a word.
    std::size_t n_sums() const { return pair_ && !shared_ ? 2 : 1; }

  private:
    void resize(std::size_t n_rows, const Codes& like);
    void take_sample(const Codes& codes, const WeightSource& weights);

    std::size_t n_rows_ = 0;
    int n_threads_ = 1;
    bool pair_ = true, counted_ = false, shared_ = false;
    Codes codes_;                          // own ones, or those of all rows
    LargeVector<int64_t> values_, spare_;  // `spare_` and `places_`: rows that a sample takes, before they are joined
    LargeVector<uint32_t> places_;
    LargeVector<uint8_t> words_, flags_;
    std::vector<float> copies_;
    std::vector<std::size_t> inside_;  // of each piece of kTableRows rows
    std::vector<std::size_t> ends_;
};

}  // namespace permissible::rules
