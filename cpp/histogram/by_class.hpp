// Class histograms of the rows of one node: integers, so that they add and subtract exactly and in any order.
// Layout: for each column a run of (codes + 1) x channels integers, channel-major, the last slot of each channel being
// the missing values. Channels: one per class, plus one of row counts when weights are not counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace permissible::trees {

/// What the kernels see of the training rows. Everything is borrowed.
template <typename Sum>
struct Rows {
    const std::uint8_t* blocks;  // (n_blocks, n_rows, 8)
    std::size_t n_rows;
    std::size_t n_columns;
    const std::uint16_t* target;
    const Sum* weight;  // null: every row counts once
    int classes;
    bool counted;            // keep a channel of row counts
    std::vector<int> codes;  // codes per column, missing not included

    std::size_t n_blocks() const { return (n_columns + 7) / 8; }
    int channels() const { return classes + (counted ? 1 : 0); }
    const std::uint8_t* block(std::size_t b) const { return blocks + b * n_rows * 8; }
    std::uint8_t code(std::size_t column, std::size_t row) const { return block(column / 8)[row * 8 + column % 8]; }
};

/// Where each column's run starts; the last entry is the size of a histogram.
template <typename Sum>
std::vector<std::size_t> histogram_offsets(const Rows<Sum>& rows) {
    std::vector<std::size_t> offsets(rows.n_columns + 1, 0);
    for (std::size_t j = 0; j < rows.n_columns; ++j)
        offsets[j + 1] = offsets[j] + static_cast<std::size_t>(rows.codes[j] + 1) * rows.channels();
    return offsets;
}

/// Adds the rows `index[0..count)` to `histogram` (which the caller has zeroed).
template <typename Sum>
void fill_histogram(const Rows<Sum>& rows, const std::vector<std::size_t>& offsets, const std::uint32_t* index,
                    std::size_t count, Sum* histogram, int threads);

}  // namespace permissible::trees
