// What trees say of coded rows: the leaves of a block of rows by byte comparisons, then one look-up a row and output.
#include <cstring>

#include "trees/boosted/fit.hpp"

namespace permissible::boosted {

namespace {

void add_values(const double* values, std::size_t outputs, const uint8_t* leaf, std::size_t n, double* scores) {
    if (outputs == 1) {
        for (std::size_t i = 0; i < n; ++i) scores[i] += values[leaf[i]];
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double* from = values + leaf[i] * outputs;
        double* to = scores + i * outputs;
        for (std::size_t k = 0; k < outputs; ++k) to[k] += from[k];
    }
}

}  // namespace

void add_trees(const Forest& forest, std::size_t first, std::size_t last, const Codes& codes, int threads,
               double* scores) {
    over_rows(codes.rows(), threads, [&](int, std::size_t begin, std::size_t end) {
        uint8_t leaf[kChunk];
        ChunkView view(codes);
        for (std::size_t at = begin; at < end; at += kChunk) {
            const std::size_t n = std::min(kChunk, end - at);
            view.move(at, at + n);
            for (std::size_t t = first; t < last; ++t) {
                const auto from = static_cast<std::size_t>(forest.first_split[t]);
                const auto count = static_cast<std::size_t>(forest.first_split[t + 1]) - from;
                std::memset(leaf, 0, n);
                for (std::size_t s = 0; s < count; ++s) {
                    const Split& split = forest.splits[from + s];
                    divide(split, static_cast<uint8_t>(s + 1), view.column(split.column), leaf, 0, n);
                }
                add_values(forest.values + (from + t) * forest.outputs, forest.outputs, leaf, n,
                           scores + at * forest.outputs);
            }
        }
    });
}

}  // namespace permissible::boosted
