// Columns of few values share a lane of the histograms: one addition counts their joint code, and the sums of each
// column are sums of those. They are sums of integers, so bundles change only the run time.
#pragma once

#include <vector>

#include "common/large_pages.hpp"
#include "histogram/packed_classes.hpp"

namespace permissible::mcboost {

class Bundles {
  public:
    explicit Bundles(const Codes& codes);

    /// Whether the lanes are fewer than the columns.
    bool help() const { return static_cast<int>(joints_.size()) < columns_; }
    bool made_of(std::size_t rows, int columns) const { return rows == lanes_.rows && columns == columns_; }
    const CodeLanes& lanes() const { return lanes_; }
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
    struct Joint {
        std::vector<Member> members;
        int size = 1;  // of the joint codes
        bool several() const { return members.size() > 1; }
        int cells() const { return several() ? size : 256; }
        bool wide() const { return cells() > 256; }  // takes two bytes
    };
    void join(const Codes& codes);
    void arrange();
    void encode(const Codes& codes);
    /// The codes of one lane of some rows, eight bytes apart.
    static void write_codes(const Joint& joint, const Codes& codes, std::size_t begin, std::size_t count, uint8_t* to);

    std::vector<Joint> joints_;  // one for each lane, in the order of the lanes
    int columns_;
    CodeLanes lanes_;
    LargeVector<uint8_t> bytes_;  // (shapes, rows, 8)
};

}  // namespace permissible::mcboost
