// Class histograms of the rows of one node: integers, so that they add and subtract exactly and in any order.
// Layout: for each column a run of (codes + 1) x channels integers, channel-major, the last slot of each channel being
// the missing values. Channels: one per class, plus one of row counts when weights are not counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/codes.hpp"
#include "common/mapped_pages.hpp"
#include "histogram/row_blocks.hpp"

namespace permissible::trees {

/// What the kernels see of the training rows, or of a block of them that begins at row `first`. Everything is borrowed.
template <typename Sum>
struct ClassRows {
    Codes codes;
    const std::uint16_t* target;
    const Sum* weight;  // null: every row counts once
    int classes;
    bool counted;  // keep a channel of row counts
    std::uint32_t first = 0;
    MappedPages* pages = nullptr;  // of the codes, where these lie in a file

    int channels() const { return classes + (counted ? 1 : 0); }
};

/// Where each column's run starts; the last entry is the size of a histogram.
template <typename Sum>
std::vector<std::size_t> histogram_offsets(const ClassRows<Sum>& rows) {
    std::vector<std::size_t> offsets{0};
    for (int j = 0; j < rows.codes.columns; ++j)
        offsets.push_back(offsets.back() + static_cast<std::size_t>(rows.codes.bins[j] + 1) * rows.channels());
    return offsets;
}

/// Rows in blocks, in order.
template <typename Sum>
using RowBlocks = std::vector<ClassRows<Sum>>;

/// Adds the rows `index[0..count)`, which rise, to `histogram` (which the caller has zeroed).
template <typename Sum>
void fill_histogram(const RowBlocks<Sum>& rows, const std::vector<std::size_t>& offsets, const std::uint32_t* index,
                    std::size_t count, Sum* histogram, int threads);

}  // namespace permissible::trees
