// Growth over parts of the rows (blocks on disk, workers): rows remember their node, histograms of many nodes are
// counted in one pass and added, and a cut is chosen from the sum. The same numbers as in one piece, so the same tree.
#pragma once

#include <cstdint>
#include <vector>

#include "histogram/by_class.hpp"

namespace permissible::trees {

/// A node that was cut: its rows go to `left` or `right` by their code of `column`.
struct Move {
    std::int32_t column, left, right;
    const std::uint8_t* left_set;  // 32 bytes
};

/// Sends the rows of the nodes that were cut to their children, and further if these are cut too: rows that were
/// reloaded get all cuts at once. `moves[node]`: index into `cut`, or -1. Children have larger numbers.
inline void move_rows(const Codes& codes, std::int32_t* node_of_row, const std::vector<std::int32_t>& moves,
                      const std::vector<Move>& cut) {
    for (std::size_t i = 0; i < codes.rows; ++i) {
        std::int32_t node = node_of_row[i];
        while (node >= 0 && static_cast<std::size_t>(node) < moves.size() && moves[node] >= 0) {
            const Move& move = cut[moves[node]];
            node = in_set(move.left_set, codes.column(move.column)[i * 8]) ? move.left : move.right;
        }
        node_of_row[i] = node;
    }
}

/// Adds to histogram s the rows whose node has slot s, and counts them in `counts`.
inline void fill_histograms(const ClassRows<std::int64_t>& rows, const std::int32_t* node_of_row,
                            const std::vector<std::int32_t>& slot_of_node, std::size_t slots, std::int64_t* histograms,
                            std::int64_t* counts, int threads) {
    const auto offsets = histogram_offsets(rows);
    const RowBlocks<std::int64_t> blocks{rows};
    std::vector<std::size_t> begin(slots + 1, 0);
    const auto slot = [&](std::size_t i) {
        const std::int32_t node = node_of_row[i];
        return node < 0 || static_cast<std::size_t>(node) >= slot_of_node.size() ? -1 : slot_of_node[node];
    };
    for (std::size_t i = 0; i < rows.codes.rows; ++i)
        if (const std::int32_t s = slot(i); s >= 0) ++begin[s + 1];
    for (std::size_t s = 0; s < slots; ++s) begin[s + 1] += begin[s];
    std::vector<std::uint32_t> index(begin[slots]);
    std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < rows.codes.rows; ++i)
        if (const std::int32_t s = slot(i); s >= 0) index[at[s]++] = static_cast<std::uint32_t>(i);
    for (std::size_t s = 0; s < slots; ++s) {
        counts[s] += static_cast<std::int64_t>(begin[s + 1] - begin[s]);
        fill_histogram(blocks, offsets, index.data() + begin[s], begin[s + 1] - begin[s],
                       histograms + s * offsets.back(), threads);
    }
}

}  // namespace permissible::trees
