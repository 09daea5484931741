// The histogram kernels: quantise a chunk of rows, add it block by block, unpack.
#include "boosting/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "common/parallel.hpp"

namespace permissible::boosting {

namespace {

constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds a double to an integer in its low bits

inline int64_t rounded(double value) {
    const double shifted = value + kMagic;
    int64_t bits, zero;
    std::memcpy(&bits, &shifted, 8);
    std::memcpy(&zero, &kMagic, 8);
    return bits - zero;
}

PERMISSIBLE_CLONES
void pack_single(const float* weight, std::size_t n, double grid, int64_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = rounded(static_cast<double>(weight[i]) * grid);
}

PERMISSIBLE_CLONES
void pack_pair(const float* weight, const float* curvature, std::size_t n, double weight_grid, double curvature_grid,
               int64_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const int64_t w = rounded(static_cast<double>(weight[i]) * weight_grid);
        const int64_t k = rounded(static_cast<double>(curvature[i]) * curvature_grid);
        out[i] = static_cast<int64_t>(static_cast<uint64_t>(w) << 32) + k;
    }
}

/// Both sums of a packed row scale with its multiplicity, so the packed integer does too.
PERMISSIBLE_CLONES
void repeat(const float* multiplicity, std::size_t n, int64_t* values) {
    for (std::size_t i = 0; i < n; ++i) values[i] *= static_cast<int64_t>(multiplicity[i]);
}

template <int Lanes>
void add_rows(const uint64_t* rows, const int64_t* values, std::size_t n, int64_t* cells) {
    for (std::size_t i = 0; i < n; ++i) {
        const uint64_t codes = rows[i];
        const int64_t value = values[i];
#pragma GCC unroll 8
        for (int lane = 0; lane < Lanes; ++lane) cells[lane * 256 + ((codes >> (8 * lane)) & 255)] += value;
    }
}

template <int Lanes>
void add_chosen(const uint64_t* rows, const int64_t* values, const uint16_t* chosen, std::size_t n, int64_t* cells) {
    for (std::size_t i = 0; i < n; ++i) {
        const uint64_t codes = rows[chosen[i]];
        const int64_t value = values[chosen[i]];
#pragma GCC unroll 8
        for (int lane = 0; lane < Lanes; ++lane) cells[lane * 256 + ((codes >> (8 * lane)) & 255)] += value;
    }
}

using AddRows = void (*)(const uint64_t*, const int64_t*, std::size_t, int64_t*);
using AddChosen = void (*)(const uint64_t*, const int64_t*, const uint16_t*, std::size_t, int64_t*);
constexpr AddRows kAddRows[] = {nullptr,     add_rows<1>, add_rows<2>, add_rows<3>, add_rows<4>,
                                add_rows<5>, add_rows<6>, add_rows<7>, add_rows<8>};
constexpr AddChosen kAddChosen[] = {nullptr,       add_chosen<1>, add_chosen<2>, add_chosen<3>, add_chosen<4>,
                                    add_chosen<5>, add_chosen<6>, add_chosen<7>, add_chosen<8>};

PERMISSIBLE_CLONES
void unpack_single(const int64_t* cells, int lanes, int64_t* sums) {
    for (int cell = 0; cell < lanes * 256; ++cell) sums[cell] += cells[cell];
}

PERMISSIBLE_CLONES
void unpack_pair(const int64_t* cells, int lanes, int64_t* sums) {
    for (int lane = 0; lane < lanes; ++lane) {
        int64_t* weight = sums + lane * 512;
        int64_t* curvature = weight + 256;
        for (int code = 0; code < 256; ++code) {
            const int64_t cell = cells[lane * 256 + code];
            const int64_t low = cell & 0xffffffffLL;
            curvature[code] += low;
            weight[code] += (cell - low) >> 32;
        }
    }
}

std::size_t choose(const RowChoice& choice, std::size_t begin, std::size_t end, uint16_t* chosen) {
    std::size_t count = 0;
    std::size_t row = begin;
    while (row < end) {
        const uint64_t run = (choice.first_row + row) / kRunRows;
        const std::size_t run_end = std::min<std::size_t>(end, (run + 1) * kRunRows - choice.first_row);
        if (choice.share >= 1.0 || run_taken(run, choice.seed, choice.share)) {
            if (choice.mask != nullptr) {
                for (std::size_t i = row; i < run_end; ++i) {
                    chosen[count] = static_cast<uint16_t>(i - begin);
                    count += choice.mask[i] == choice.wanted;
                }
            } else {
                for (std::size_t i = row; i < run_end; ++i) chosen[count++] = static_cast<uint16_t>(i - begin);
            }
        }
        row = run_end;
    }
    return count;
}

/// What one thread needs: packed values, the chosen rows, and the cells of one block.
struct Workspace {
    std::unique_ptr<int64_t[]> values{new int64_t[kChunkUnits]};
    std::unique_ptr<uint16_t[]> chosen{new uint16_t[kChunkUnits + 1]};
    std::unique_ptr<int64_t[]> cells{new int64_t[8 * 256]};
};

void add_chunk(const CodeBlocks& codes, const RowWeights& weights, const RowChoice& choice, std::size_t begin,
               std::size_t end, Workspace& space, int64_t* sums) {
    const std::size_t n = end - begin;
    const bool pair = weights.curvature != nullptr;
    const bool all = choice.mask == nullptr && choice.share >= 1.0;
    const std::size_t count = all ? n : choose(choice, begin, end, space.chosen.get());
    if (count == 0) return;
    if (pair) {
        pack_pair(weights.signed_weight + begin, weights.curvature + begin, n, weights.weight_grid,
                  weights.curvature_grid, space.values.get());
    } else {
        pack_single(weights.signed_weight + begin, n, weights.weight_grid, space.values.get());
    }
    if (weights.multiplicity != nullptr) repeat(weights.multiplicity + begin, n, space.values.get());
    for (std::size_t block = 0; block < codes.n_blocks(); ++block) {
        const int lanes = codes.lanes(block);
        const uint64_t* rows = codes.block(block) + begin;
        std::fill(space.cells.get(), space.cells.get() + lanes * 256, int64_t{0});
        if (all) {
            kAddRows[lanes](rows, space.values.get(), n, space.cells.get());
        } else {
            kAddChosen[lanes](rows, space.values.get(), space.chosen.get(), count, space.cells.get());
        }
        int64_t* target = sums + block * 8 * 256 * (pair ? 2 : 1);
        (pair ? unpack_pair : unpack_single)(space.cells.get(), lanes, target);
    }
}

}  // namespace

bool run_taken(uint64_t run, uint64_t seed, double share) {
    uint64_t mixed = (run + 1) * 0x9E3779B97F4A7C15ULL ^ (seed + 1) * 0xD1B54A32D192ED03ULL;  // splitmix64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    mixed ^= mixed >> 31;
    return static_cast<double>(mixed >> 11) * 0x1.0p-53 < share;
}

std::vector<std::size_t> chunk_ends(std::size_t n_rows, const float* multiplicity) {
    std::vector<std::size_t> ends;
    std::size_t count = 0;
    double units = 0.0;
    for (std::size_t row = 0; row < n_rows; ++row) {
        units += multiplicity != nullptr ? multiplicity[row] : 1.0;
        ++count;
        if (count == kChunkUnits || units >= static_cast<double>(kChunkUnits)) {
            ends.push_back(row + 1);
            count = 0;
            units = 0.0;
        }
    }
    if (count > 0) ends.push_back(n_rows);
    return ends;
}

void histogram(const CodeBlocks& codes, const RowWeights& weights, const RowChoice& choice,
               const std::vector<std::size_t>& ends, int n_threads, int64_t* sums) {
    const std::size_t n_chunks = ends.size();
    const std::size_t width = codes.n_columns * 256 * (weights.curvature != nullptr ? 2 : 1);
    const int threads = std::min<int>(resolve_threads(n_threads, codes.n_rows * codes.n_columns),
                                      static_cast<int>(std::max<std::size_t>(n_chunks, 1)));
    if (threads == 1) {
        thread_local Workspace space;
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
            add_chunk(codes, weights, choice, chunk == 0 ? 0 : ends[chunk - 1], ends[chunk], space, sums);
        }
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        Workspace space;
        std::vector<int64_t> own(width, 0);
#pragma omp for schedule(static)
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
            add_chunk(codes, weights, choice, chunk == 0 ? 0 : ends[chunk - 1], ends[chunk], space, own.data());
        }
#pragma omp critical
        for (std::size_t cell = 0; cell < width; ++cell) sums[cell] += own[cell];
    }
}

}  // namespace permissible::boosting
