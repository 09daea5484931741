// Rows in blocks, as they lie on disk: a list of row numbers that rises is taken apart into runs of one block each.
// A block has its first row, its codes, and the pages of its file if it has one (ClassRows in by_class.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace permissible::trees {

/// Calls work(block, begin, end) for each run of `index[0..count)`, which rises, that lies in one block.
template <class Blocks, class Work>
void for_runs(const Blocks& blocks, const std::uint32_t* index, std::size_t count, Work work) {
    std::size_t begin = 0;
    for (auto block = blocks.begin(); begin < count; ++block) {
        const auto next = static_cast<std::size_t>(block->first) + block->codes.rows;
        const std::size_t end =
            block + 1 == blocks.end() ? count : std::lower_bound(index + begin, index + count, next) - index;
        if (end > begin) work(*block, begin, end);
        begin = end;
    }
}

/// The codes of `count` rows from `first` to `last` were read in column block b, and are not needed for now.
template <class Block>
void visited(const Block& rows, std::size_t b, std::size_t first, std::size_t last, std::size_t count) {
    const auto at = [&](std::size_t row) { return rows.codes.block(b) + (row - rows.first) * 8; };
    if (rows.pages) rows.pages->visited(at(first), at(last + 1), count);
}

}  // namespace permissible::trees
