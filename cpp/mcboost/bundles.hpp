// Columns of few values share a lane of the histograms: one addition counts their joint code, and the sums of each
// column are sums of those. They are sums of integers, so bundles change the time and nothing else.
#pragma once

#include <vector>

#include "common/large.hpp"
#include "mcboost/packed.hpp"

namespace permissible::mcboost {

class Bundles {
  public:
    explicit Bundles(const Codes& codes);

    /// Whether the lanes are fewer than the columns.
    bool help() const { return help_; }
    bool made_of(std::size_t rows, int columns) const { return rows == rows_ && columns == columns_; }
    Lanes lanes() const;
    /// Where the sums of each column are, (256, width), given those of the lanes; `own` holds what must be summed
    /// first.
    std::vector<const int64_t*> by_column(const std::vector<int64_t>& cells, int width,
                                          std::vector<int64_t>& own) const;

  private:
    /// A column's digit in the joint code: (code / stride) % radix; the last digit is "missing". A column alone in its
    /// lane keeps its code.
    struct Member {
        int column, stride, radix;
    };
    struct Lane {
        std::vector<Member> members;
        int size = 1;  // of the joint codes
        bool joint() const { return members.size() > 1; }
    };
    void plan(const Codes& codes);
    void encode(const Codes& codes);

    std::vector<Lane> lanes_;
    std::vector<int> sizes_;  // of the codes of each lane
    int columns_, per_block_ = 1;
    bool help_ = false;
    std::size_t rows_;
    LargeVector<uint64_t> words_;  // (blocks, rows)
};

}  // namespace permissible::mcboost
