// Coded rows for boosted trees. The law: codes are kept twice, in blocks of 8 columns row by row (one load brings eight
// codes to a histogram) and column by column (a split of a tree compares 32 rows at once).
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
    /// Looks at `blocks` (n_blocks, rows, 8), which must live as long, and copies them column by column.
    Codes(const uint8_t* blocks, std::size_t rows, std::size_t columns, int threads);
    /// The columns of others outside of the bundles, in order, then a column a bundle (bundles.hpp), all copied.
    Codes(const Codes& from, const std::vector<std::vector<int>>& bundles, int threads);
    /// The given rows of others, copied.
    void gather(const Codes& from, const uint32_t* chosen, std::size_t count, int threads);

    /// A hash of the codes of each row: the sum over columns of a hash of `names[j]` and the code, so that the order of
    /// columns does not matter and rows that no tree can tell apart are taken together.
    std::vector<uint32_t> hashes(const uint64_t* names, int threads) const;

    /// Whether every code of a column is below its bins, rare or missing.
    bool fit(std::size_t column, const Column& known) const;

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    std::size_t n_blocks() const { return (columns_ + 7) / 8; }
    int lanes(std::size_t block) const { return static_cast<int>(std::min<std::size_t>(8, columns_ - 8 * block)); }
    const uint64_t* block(std::size_t b) const { return reinterpret_cast<const uint64_t*>(blocks_) + b * rows_; }
    const uint8_t* column(std::size_t j) const { return by_column_.data() + j * stride_; }

  private:
    void transpose(std::size_t block, std::size_t begin, std::size_t end);

    const uint8_t* blocks_ = nullptr;
    LargeVector<uint8_t> own_, by_column_;
    std::size_t rows_ = 0, columns_ = 0, stride_ = 0;
};

}  // namespace permissible::boosted
