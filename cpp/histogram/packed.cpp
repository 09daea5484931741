// The histogram kernels: quantise a chunk of rows, add it block by block, unpack.
#include "histogram/packed.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "common/lanes.hpp"
#include "common/parallel.hpp"
#include "histogram/compress.hpp"
#include "histogram/packed_classes.hpp"

namespace permissible::rules {

namespace {

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
        out[i] = joined(w, k);
    }
}

/// The rows of a list, prefetched: they are not always neighbours.
template <int Lanes>
void add_chosen(const uint8_t* rows, const int64_t* values, const uint32_t* chosen, std::size_t n,
                int64_t* __restrict cells) {
    constexpr std::size_t ahead = 48;
    for (std::size_t i = 0; i < n; ++i) {
        __builtin_prefetch(rows + 8 * std::size_t{chosen[i + ahead < n ? i + ahead : i]});
        const uint8_t* codes = rows + 8 * std::size_t{chosen[i]};
        const int64_t value = values[i];
#pragma GCC unroll 8
        for (int lane = 0; lane < Lanes; ++lane) cells[lane * 256 + codes[lane]] += value;
    }
}

using AddChosen = void (*)(const uint8_t*, const int64_t*, const uint32_t*, std::size_t, int64_t*);
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
            curvature[code] += low_half(cell);
            weight[code] += high_half(cell);
        }
    }
}

/// Buffers of one thread: the rows to be added, their packed values, and the histogram of one block.
class Adder {
  public:
    /// Where `packed`, there is one chunk, and its words are the result.
    Adder(const Codes& codes, const WeightSource& weights, int64_t* sums, bool packed = false)
        : codes_(codes), weights_(weights), sums_(sums), pair_(weights.pair()), packed_(packed) {}

    /// Rows [begin, end), one chunk.
    void add_all(std::size_t begin, std::size_t end) {
        const std::size_t n = end - begin;
        const int64_t* values = packed(begin, n, values_.get());
        for (std::size_t block = 0; block < codes_.n_blocks(); ++block) {
            const int lanes = codes_.lanes(block);
            add_words(lanes, codes_.block(block) + 8 * begin, values, n, cleared(block, lanes));
            unpack(block, lanes);
        }
    }

    /// The chosen rows of [begin, end), run by run, buffered until a chunk is full.
    void add_chosen_of(const RowChoice& choice, std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += kRunRows) add_run(choice, row, std::min(end, row + kRunRows));
    }

    void flush() {
        if (count_ == 0 && !packed_) return;
        for (std::size_t block = 0; block < codes_.n_blocks(); ++block) {
            const int lanes = codes_.lanes(block);
            kAddChosen[lanes](codes_.block(block), values_.get(), chosen_.get(), count_, cleared(block, lanes));
            unpack(block, lanes);
        }
        count_ = 0;
        units_ = 0.0;
    }

  private:
    /// A run whose integer weights are too large for one chunk is divided; else it fits, after at most one flush.
    void add_run(const RowChoice& choice, std::size_t begin, std::size_t end) {
        const float* copies = weights_.copies;
        double units = static_cast<double>(end - begin);
        if (copies != nullptr) {
            units = 0.0;
            for (std::size_t i = begin; i < end; ++i) units += copies[i];
            if (units > static_cast<double>(kChunkUnits) && end - begin > 1) {
                const std::size_t middle = begin + (end - begin) / 2;
                add_run(choice, begin, middle);
                add_run(choice, middle, end);
                return;
            }
        }
        if (packed_) units = 0.0;
        if (count_ + (end - begin) > kChunkUnits || units_ + units > static_cast<double>(kChunkUnits)) flush();
        units_ += units;
        const std::size_t n = end - begin;
        if (weights_.draw.sampled()) {
            const std::size_t taken = weights_.take(begin, n, run_.get(), places_.data());
            for (std::size_t i = 0; i < taken; ++i) {
                chosen_[count_] = places_[i];
                values_[count_] = run_[i];
                count_ += choice.mask == nullptr || choice.mask[places_[i]] == choice.wanted;
            }
            return;
        }
        const int64_t* values = packed(begin, n, run_.get());
        count_ += compress_rows(choice.mask + begin, choice.wanted, begin, values, n, values_.get() + count_,
                                chosen_.get() + count_);
    }

    const int64_t* packed(std::size_t begin, std::size_t n, int64_t* own) const {
        if (weights_.ready != nullptr) return weights_.ready + begin;
        weights_.pack(begin, n, own);
        return own;
    }
    int64_t* cleared(std::size_t block, int lanes) {
        int64_t* cells = packed_ ? sums_ + block * 8 * 256 : cells_.get();
        return std::fill_n(cells, lanes * 256, int64_t{0}), cells;
    }
    void unpack(std::size_t block, int lanes) {
        if (packed_) return;
        int64_t* target = sums_ + block * 8 * 256 * (pair_ ? 2 : 1);
        (pair_ ? unpack_pair : unpack_single)(cells_.get(), lanes, target);
    }

    const Codes& codes_;
    const WeightSource& weights_;
    int64_t* sums_;
    bool pair_, packed_;
    std::size_t count_ = 0;
    double units_ = 0.0;
    std::unique_ptr<int64_t[]> values_{new int64_t[kChunkUnits + 8]};
    std::unique_ptr<int64_t[]> run_{new int64_t[kRunRows]};
    std::array<uint32_t, kRunRows> places_;
    std::unique_ptr<uint32_t[]> chosen_{new uint32_t[kChunkUnits + 8]};
    std::unique_ptr<int64_t[]> cells_{new int64_t[8 * 256]};
};

}  // namespace

/// Both sums of a packed row scale with its integer weight, so the packed integer does too.
PERMISSIBLE_CLONES
void repeat_packed(const float* copies, std::size_t n, int64_t* values) {
    for (std::size_t i = 0; i < n; ++i) values[i] *= static_cast<int64_t>(copies[i]);
}

std::vector<std::size_t> chunk_ends(std::size_t n_rows, const float* multiplicity) {
    std::vector<std::size_t> ends;
    if (multiplicity == nullptr) {
        for (std::size_t row = 0; row < n_rows; row += kChunkUnits) ends.push_back(std::min(n_rows, row + kChunkUnits));
        return ends;
    }
    std::size_t count = 0;
    double units = 0.0;
    for (std::size_t row = 0; row < n_rows; ++row) {
        units += multiplicity[row];
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

void ArrayWeights::pack(std::size_t begin, std::size_t n, int64_t* out) const {
    if (pair()) {
        pack_pair(signed_weight + begin, curvature + begin, n, weight_grid, curvature_grid, out);
    } else {
        pack_single(signed_weight + begin, n, weight_grid, out);
    }
    if (copies != nullptr) repeat_packed(copies + begin, n, out);
}

void packed_histogram(const Codes& codes, const WeightSource& weights, const RowChoice& choice, int64_t* words) {
    Adder adder(codes, weights, words, true);
    if (choice.mask == nullptr) return adder.add_all(0, codes.rows);
    adder.add_chosen_of(choice, 0, codes.rows);
    adder.flush();
}

void histogram(const Codes& codes, const WeightSource& weights, const RowChoice& choice,
               const std::vector<std::size_t>& ends, int n_threads, int64_t* sums) {
    const std::size_t n_chunks = ends.size();
    const std::size_t width = static_cast<std::size_t>(codes.columns) * 256 * (weights.pair() ? 2 : 1);
    const int threads = std::min<int>(resolve_threads(n_threads, codes.rows * static_cast<std::size_t>(codes.columns)),
                                      static_cast<int>(std::max<std::size_t>(n_chunks, 1)));
    const bool all = choice.mask == nullptr && !weights.draw.sampled();
    const auto add = [&](Adder& adder, std::size_t chunk) {
        const std::size_t begin = chunk == 0 ? 0 : ends[chunk - 1];
        if (all) {
            adder.add_all(begin, ends[chunk]);
        } else {
            adder.add_chosen_of(choice, begin, ends[chunk]);
        }
    };
    if (threads == 1) {
        Adder adder(codes, weights, sums);
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) add(adder, chunk);
        adder.flush();
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        std::vector<int64_t> own(width, 0);
        Adder adder(codes, weights, own.data());
#pragma omp for schedule(static)
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) add(adder, chunk);
        adder.flush();
#pragma omp critical
        for (std::size_t cell = 0; cell < width; ++cell) sums[cell] += own[cell];
    }
}

}  // namespace permissible::rules
