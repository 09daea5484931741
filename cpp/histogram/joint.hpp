// Columns of few values share one joint code: a code for each combination of their codes that occurs. One addition to a
// histogram counts the joint code, and the sums of each column are sums of those. The law: all are sums of integers, so
// that joint codes change the time and nothing else.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/codes.hpp"
#include "common/large_pages.hpp"

namespace permissible {

inline constexpr int kJoinedBins = 64;  // a column of more values stays alone

class JointCodes {
  public:
    /// `bins` values of each column.
    JointCodes(const Codes& codes, const std::vector<int>& bins);

    /// Whether columns share a code.
    bool help() const { return lanes_.size() < columns_; }
    /// A column a lane; they live as long as this.
    const Codes& codes() const { return joint_; }
    /// The lane of a column, and the set of its codes given that of the column's, 256 flags each.
    int lane(int column) const { return place_[static_cast<std::size_t>(column)].lane; }
    void members(int column, const uint8_t* own, uint8_t* joint) const;
    /// From sums (lanes, n_sums, 256) to (columns, n_sums, 256); of a column that shares a code only the sums of its
    /// values, of other categories and of missing values are written.
    void spread(const int64_t* joint, int n_sums, int64_t* sums) const;

  private:
    /// A column's code that most joint codes have, and the terms (joint code, code) of the others: so an indicator has
    /// few of them.
    struct Rest {
        uint8_t code = 0;
        std::vector<std::pair<uint8_t, uint8_t>> terms;
    };
    struct Lane {
        std::vector<int> columns;
        std::vector<std::vector<uint8_t>> code;  // of each of its columns by joint code; empty for a column alone
        std::vector<Rest> rest;
        int size = 0;  // joint codes
    };
    struct Place {
        int lane = 0, member = 0;
    };
    bool join(Lane& lane, std::vector<uint8_t>& joint, const Codes& codes, int column) const;
    void write(const Codes& codes, const std::vector<std::vector<uint8_t>>& joint);

    std::size_t columns_;
    std::vector<int> bins_;
    std::vector<Lane> lanes_;
    std::vector<Place> place_;
    LargeVector<uint8_t> bytes_;
    Codes joint_;
};

}  // namespace permissible
