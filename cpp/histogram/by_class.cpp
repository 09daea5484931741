// One 64-bit load brings the codes of 8 columns; 8 integer additions follow, each into the channel of the row's class.
#include "histogram/by_class.hpp"

#include <algorithm>
#include <cstring>

#include "common/parallel.hpp"

namespace permissible::trees {
namespace {

constexpr std::size_t kAhead = 24;  // rows fetched ahead of their use: a node's rows are scattered in memory

constexpr std::size_t kFewRows = 128;

/// scratch[(code * 8 + lane) * channels + class] += weight, for one block of 8 columns.
template <typename Sum, int Channels, bool Weighted>
void add_block(const ClassRows<Sum>& rows, const std::uint8_t* block, const std::uint32_t* index, std::size_t count,
               Sum* scratch) {
    const std::size_t channels = Channels > 0 ? Channels : rows.channels();
    const std::size_t safe = count > kAhead ? count - kAhead : 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i < safe) __builtin_prefetch(block + static_cast<std::size_t>(index[i + kAhead] - rows.first) * 8);
        const std::size_t row = index[i] - rows.first;
        std::uint64_t word;
        std::memcpy(&word, block + row * 8, 8);
        Sum* cell = scratch + rows.target[row];
        const Sum weight = Weighted ? rows.weight[row] : Sum{1};
        for (std::size_t lane = 0; lane < 8; ++lane) {
            cell[(((word >> (8 * lane)) & 255) * 8 + lane) * channels] += weight;
        }
        if constexpr (Channels == 0) {
            if (rows.counted) {
                Sum* counter = scratch + rows.classes;
                for (std::size_t lane = 0; lane < 8; ++lane)
                    counter[(((word >> (8 * lane)) & 255) * 8 + lane) * channels] += 1;
            }
        }
    }
}

template <typename Sum>
void add_any_block(const ClassRows<Sum>& rows, const std::uint8_t* block, const std::uint32_t* index, std::size_t count,
                   Sum* scratch) {
    if (rows.channels() == 2) {
        if (rows.weight)
            add_block<Sum, 2, true>(rows, block, index, count, scratch);
        else
            add_block<Sum, 2, false>(rows, block, index, count, scratch);
    } else if (rows.weight) {
        add_block<Sum, 0, true>(rows, block, index, count, scratch);
    } else {
        add_block<Sum, 0, false>(rows, block, index, count, scratch);
    }
}

/// Moves one block's scratch into the runs of its columns.
template <typename Sum>
void flush_block(const ClassRows<Sum>& rows, const std::vector<std::size_t>& offsets, std::size_t b, const Sum* scratch,
                 Sum* histogram) {
    const std::size_t channels = rows.channels();
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(rows.codes.lanes(b)); ++lane) {
        const std::size_t column = b * 8 + lane;
        const std::size_t codes = rows.codes.bins[column];
        for (std::size_t c = 0; c < channels; ++c) {
            Sum* run = histogram + offsets[column] + c * (codes + 1);
            const Sum* from = scratch + lane * channels + c;
            for (std::size_t k = 0; k < codes; ++k) run[k] += from[k * 8 * channels];
            run[codes] += from[255 * 8 * channels];
        }
    }
}

/// A few rows go straight into the runs: clearing and flushing the scratch would cost more.
template <typename Sum>
void add_few(const ClassRows<Sum>& rows, const std::vector<std::size_t>& offsets, const std::uint32_t* index,
             std::size_t count, Sum* histogram) {
    for (int column = 0; column < rows.codes.columns; ++column) {
        const std::size_t slots = rows.codes.bins[column] + 1;
        const std::uint8_t* codes = rows.codes.column(column);
        Sum* run = histogram + offsets[column];
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = index[i] - rows.first, code = codes[row * 8];
            const std::size_t slot = code == kMissingCode ? slots - 1 : code;
            run[rows.target[row] * slots + slot] += rows.weight ? rows.weight[row] : Sum{1};
            if (rows.counted) run[rows.classes * slots + slot] += 1;
        }
    }
}

}  // namespace

template <typename Sum>
void fill_histogram(const RowBlocks<Sum>& row_blocks, const std::vector<std::size_t>& offsets,
                    const std::uint32_t* index, std::size_t count, Sum* histogram, int threads) {
    const ClassRows<Sum>& rows = row_blocks.front();
    if (count <= kFewRows)
        return for_runs(row_blocks, index, count, [&](const ClassRows<Sum>& of, std::size_t begin, std::size_t end) {
            add_few(of, offsets, index + begin, end - begin, histogram);
            for (std::size_t b = 0; b < of.codes.n_blocks(); ++b)
                visited(of, b, index[begin], index[end - 1], end - begin);
        });
    const std::size_t blocks = rows.codes.n_blocks();
    const std::size_t size = 256 * 8 * static_cast<std::size_t>(rows.channels());
    // A quarter of the cells: enough work to pay for the barrier, also on a busy machine.
    const int used = resolve_threads(threads, count * static_cast<std::size_t>(rows.codes.columns) / 4);
    // Whole blocks per thread if they divide evenly, else each block's rows are divided as well.
    const std::size_t parts = (used == 1 || blocks % used == 0 || blocks >= 8u * used) ? 1 : used;
    const std::int64_t tasks = static_cast<std::int64_t>(blocks * parts);
#pragma omp parallel num_threads(used) if (used > 1)
    {
        std::vector<Sum> scratch(size);
#pragma omp for schedule(dynamic, 1)
        for (std::int64_t task = 0; task < tasks; ++task) {
            const std::size_t b = static_cast<std::size_t>(task) / parts, part = static_cast<std::size_t>(task) % parts;
            const std::size_t begin = count * part / parts, end = count * (part + 1) / parts;
            std::fill(scratch.begin(), scratch.end(), Sum{0});
            const std::uint32_t* taken = index + begin;
            for_runs(row_blocks, taken, end - begin, [&](const ClassRows<Sum>& of, std::size_t from, std::size_t to) {
                add_any_block(of, of.codes.block(b), taken + from, to - from, scratch.data());
                visited(of, b, taken[from], taken[to - 1], to - from);
            });
            if (parts == 1) {
                flush_block(rows, offsets, b, scratch.data(), histogram);
            } else {
#pragma omp critical(permissible_tree_flush)
                flush_block(rows, offsets, b, scratch.data(), histogram);
            }
        }
    }
}

template void fill_histogram<std::int32_t>(const RowBlocks<std::int32_t>&, const std::vector<std::size_t>&,
                                           const std::uint32_t*, std::size_t, std::int32_t*, int);
template void fill_histogram<std::int64_t>(const RowBlocks<std::int64_t>&, const std::vector<std::size_t>&,
                                           const std::uint32_t*, std::size_t, std::int64_t*, int);

}  // namespace permissible::trees
