// Stable division of a node's rows: those of the left codes first, both sides in their old order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/parallel.hpp"
#include "histogram/by_class.hpp"

namespace permissible::trees {

/// Reorders index[0..count) by `goes_left[code of the row]` and returns how many went left. `spare`: count entries.
template <typename Sum>
std::size_t divide_rows(const RowBlocks<Sum>& rows, std::uint32_t* index, std::size_t count, int column,
                        const std::uint8_t* goes_left, std::uint32_t* spare, int threads) {
    constexpr std::size_t kAhead = 32;
    const int parts = resolve_threads(threads, count);
    std::vector<std::size_t> begin(parts + 1), kept(parts);
    for (int t = 0; t <= parts; ++t) begin[t] = count * static_cast<std::size_t>(t) / parts;
    // Each part compacts its left rows in place and parks the right ones in the spare room.
#pragma omp parallel for num_threads(parts) if (parts > 1) schedule(static, 1)
    for (int t = 0; t < parts; ++t) {
        std::size_t n_left = begin[t], n_right = begin[t];
        std::uint32_t* own = index + begin[t];
        for_runs(rows, own, begin[t + 1] - begin[t], [&](const ClassRows<Sum>& of, std::size_t from, std::size_t to) {
            const std::uint8_t* lane = of.codes.column(column);
            const std::uint32_t ends[] = {own[from], own[to - 1]};  // known before the loop, which changes `own`
            for (std::size_t i = from; i < to; ++i) {
                if (i + kAhead < to)
                    __builtin_prefetch(lane + static_cast<std::size_t>(own[i + kAhead] - of.first) * 8);
                const std::uint32_t row = own[i];
                const std::size_t left = goes_left[lane[static_cast<std::size_t>(row - of.first) * 8]];
                index[n_left] = row;
                spare[n_right] = row;
                n_left += left;
                n_right += 1 - left;
            }
            visited(of, column / 8, ends[0], ends[1], to - from);
        });
        kept[t] = n_left - begin[t];
    }
    std::size_t n_left = 0;
    for (int t = 0; t < parts; ++t) {
        std::copy(index + begin[t], index + begin[t] + kept[t], index + n_left);
        n_left += kept[t];
    }
    std::uint32_t* to = index + n_left;
    for (int t = 0; t < parts; ++t) to = std::copy(spare + begin[t], spare + begin[t + 1] - kept[t], to);
    return n_left;
}

}  // namespace permissible::trees
