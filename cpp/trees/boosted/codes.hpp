// Coded rows for boosted trees. The law: rows that are searched are kept twice, in blocks of 8 columns row by row (one
// load brings eight codes to a histogram) and column by column (a split of a tree compares 32 rows at once); of many
// rows of which samples are searched only the blocks are kept, and a chunk of them is transposed when it is asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/large_pages.hpp"
#include "common/parallel.hpp"

namespace permissible::boosted {

inline constexpr std::size_t kChunk = 4096;  // rows of one work item: their leaves and sums stay in the first cache
inline constexpr int kMissing = 255, kOther = 254;

/// Where in [begin, end) the bytes are as wanted; returns how many. Up to eight numbers beyond them are overwritten.
std::size_t find_bytes(const uint8_t* bytes, std::size_t begin, std::size_t end, uint8_t wanted, uint32_t* found);

/// What a learner knows of a column.
struct Column {
    int bins = 0;  // codes 0 to bins - 1; beside them 254 (rare categories) and 255 (missing)
    bool categorical = false;
    bool missing = false;
    int monotone = 0;            // +1: the score never falls as the code grows
    int origin = -1;             // its place among the columns that were given, that of the grower where below 0
    std::vector<int> members{};  // of a bundle (bundles.hpp): the columns that it stands for; empty for any other
};

/// Calls work(thread, begin, end) for contiguous ranges of whole chunks, one per thread.
template <class Work>
void over_rows(std::size_t rows, int requested, Work work) {
    const std::size_t chunks = (rows + kChunk - 1) / kChunk;
    const int threads =
        std::min<int>(resolve_threads(requested, rows * 8), static_cast<int>(std::max<std::size_t>(chunks, 1)));
    if (threads == 1) return work(0, std::size_t{0}, rows);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; ++t)
        work(t, std::min(rows, chunks * t / threads * kChunk), std::min(rows, chunks * (t + 1) / threads * kChunk));
}

class Codes {
  public:
    Codes() = default;
    /// Looks at `blocks` (n_blocks, rows or `room`, 8), which must live as long, and copies them by column if asked to.
    Codes(const uint8_t* blocks, std::size_t rows, std::size_t columns, int threads, bool by_column = true,
          std::size_t room = 0);
    /// The columns of others outside of the bundles, in order, then a column a bundle (bundles.hpp), all copied.
    Codes(const Codes& from, const std::vector<std::vector<int>>& bundles, int threads);
    /// The given rows of others, copied.
    void gather(const Codes& from, const uint32_t* chosen, std::size_t count, int threads);

    /// A hash of the codes of each row: the sum over columns of a hash of `numbers[j]` (0: left out) and the code, so
    /// that the order of columns does not matter and rows that no tree can tell apart are taken together.
    std::vector<uint32_t> hashes(const uint64_t* numbers, int threads) const;

    /// Whether every code of each column is below its bins, rare or missing.
    bool fit(const std::vector<Column>& known) const;

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    std::size_t n_blocks() const { return (columns_ + 7) / 8; }
    int lanes(std::size_t block) const { return static_cast<int>(std::min<std::size_t>(8, columns_ - 8 * block)); }
    const uint64_t* block(std::size_t b) const { return reinterpret_cast<const uint64_t*>(blocks_) + b * room_; }
    bool by_column() const { return !by_column_.empty() || rows_ == 0; }
    /// Where they are kept by column.
    const uint8_t* column(std::size_t j) const { return by_column_.data() + j * stride_; }
    /// Eight columns of the rows [begin, end) to `to`, `stride` bytes apart.
    void transpose(std::size_t block, std::size_t begin, std::size_t end, uint8_t* to, std::size_t stride) const;

  private:
    void keep(std::size_t block, std::size_t begin, std::size_t end) {
        transpose(block, begin, end, by_column_.data() + 8 * block * stride_ + begin, stride_);
    }

    const uint8_t* blocks_ = nullptr;
    LargeVector<uint8_t> own_, by_column_;
    std::size_t rows_ = 0, columns_ = 0, stride_ = 0, room_ = 0;
};

/// The columns of a chunk of rows, wherever they are kept; one view a thread.
class ChunkView {
  public:
    explicit ChunkView(const Codes& codes) : codes_(codes) {
        if (codes.by_column()) return;
        open_.resize(codes.n_blocks());
        own_.resize(codes.n_blocks() * 8 * kStride);
    }
    /// Moves to the rows [begin, end), at most kChunk.
    void move(std::size_t begin, std::size_t end) {
        begin_ = begin, end_ = end;
        std::fill(open_.begin(), open_.end(), uint8_t{0});
    }
    /// A column of these rows.
    const uint8_t* column(std::size_t j) {
        if (open_.empty()) return codes_.column(j) + begin_;
        if (!open_[j / 8]) codes_.transpose(j / 8, begin_, end_, own_.data() + j / 8 * 8 * kStride, kStride);
        open_[j / 8] = 1;
        return own_.data() + j * kStride;
    }

  private:
    static constexpr std::size_t kStride = kChunk + 64;  // columns a power of two apart would share lines of the cache
    const Codes& codes_;
    std::vector<uint8_t> open_, own_;
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace permissible::boosted
