// See row_table.hpp.
#include "rules/row_table.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "common/parallel.hpp"
#include "histogram/compress.hpp"

namespace permissible::rules {

namespace {

constexpr std::size_t kTableRows = 2048;  // of one work item

/// Weights that were packed before.
class PackedWeights final : public WeightSource {
  public:
    PackedWeights(const int64_t* values, const float* counts, bool pair) : pair_(pair) {
        ready = values, copies = counts;
    }
    bool pair() const override { return pair_; }
    void floats(std::size_t, std::size_t, float*, float*) const override {}
    void pack(std::size_t, std::size_t, int64_t*) const override {}

  private:
    bool pair_;
};

/// Calls work(item, begin, end) for each work item of n rows.
template <class Work>
void over_items(std::size_t n, int threads, Work work) {
    const std::size_t n_items = (n + kTableRows - 1) / kTableRows;
    const auto one = [&](std::size_t item) { work(item, item * kTableRows, std::min(n, (item + 1) * kTableRows)); };
    for (std::size_t item = 0; threads == 1 && item < n_items; ++item) one(item);
    if (threads == 1) return;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t item = 0; item < n_items; ++item) one(item);
}

}  // namespace

void RowTable::resize(std::size_t n_rows, const Codes& like) {
    n_rows_ = n_rows;
    grow_to(values_, n_rows);
    grow_to(words_, like.n_blocks() * 8 * n_rows);
    if (counted_) copies_.resize(n_rows);
    codes_ = like;
    codes_.blocks = words_.data();
    codes_.rows = n_rows;
}

void RowTable::fill(const Codes& codes, const WeightSource& weights, int n_threads, bool shares) {
    n_threads_ = n_threads, pair_ = weights.pair(), counted_ = weights.copies != nullptr;
    if (weights.draw.sampled()) {
        take_sample(codes, weights);
    } else {
        n_rows_ = codes.rows;
        grow_to(values_, n_rows_);
        codes_ = codes;
        if (counted_) copies_.assign(weights.copies, weights.copies + n_rows_);
        over_items(n_rows_, resolve_threads(n_threads_, n_rows_ * 8), [&](std::size_t, std::size_t begin, auto end) {
            weights.pack(begin, end - begin, values_.data() + begin);
        });
    }
    ends_ = chunk_ends(n_rows_, counted_ ? copies_.data() : nullptr);
    shared_ = shares && pair_ && ends_.size() <= 1;
}

/// Each work item takes its rows. Several threads write them apart first, and then next to each other.
void RowTable::take_sample(const Codes& codes, const WeightSource& weights) {
    const std::size_t n_items = (codes.rows + kTableRows - 1) / kTableRows;
    const int threads = resolve_threads(n_threads_, codes.rows * 8);
    const bool apart = threads > 1;
    inside_.assign(n_items + 1, 0);
    LargeVector<int64_t>& taken = apart ? spare_ : values_;
    if (apart) grow_to(taken, codes.rows), grow_to(places_, codes.rows);
    std::size_t next = 0;
    over_items(codes.rows, threads, [&](std::size_t item, std::size_t begin, std::size_t end) {
        const std::size_t first = apart ? begin : next;
        if (!apart) extend_to(taken, first + end - begin), extend_to(places_, first + end - begin);
        std::size_t count = first;
        for (std::size_t at = begin; at < end; at += kRunRows)
            count += weights.take(at, std::min(kRunRows, end - at), taken.data() + count, places_.data() + count);
        inside_[item + 1] = count - first;
        if (!apart) next = count;
    });
    for (std::size_t item = 0; item < n_items; ++item) inside_[item + 1] += inside_[item];
    resize(inside_[n_items], codes);
    over_items(codes.rows, threads, [&](std::size_t item, std::size_t begin, std::size_t) {
        const std::size_t to = inside_[item], n = inside_[item + 1] - to;
        const uint32_t* rows = places_.data() + (apart ? begin : to);
        if (apart) std::copy_n(taken.data() + begin, n, values_.data() + to);
        for (std::size_t b = 0; b < codes.n_blocks(); ++b) {
            const auto* from = reinterpret_cast<const uint64_t*>(codes.block(b));
            auto* out = reinterpret_cast<uint64_t*>(words_.data()) + b * n_rows_ + to;
            for (std::size_t i = 0; i < n; ++i) out[i] = from[rows[i]];
        }
        for (std::size_t i = 0; counted_ && i < n; ++i) copies_[to + i] = weights.copies[rows[i]];
    });
}

void RowTable::fill(const RowTable& parent, bool inside) {
    n_threads_ = parent.n_threads_, pair_ = parent.pair_, counted_ = parent.counted_, shared_ = parent.shared_;
    const std::size_t n = parent.n_rows_, n_items = (n + kTableRows - 1) / kTableRows;
    inside_.assign(n_items + 1, 0);
    for (std::size_t item = 0; item < n_items; ++item) {
        const std::size_t all = std::min(kTableRows, n - item * kTableRows), own = parent.inside_[item];
        inside_[item + 1] = inside_[item] + (inside ? own : all - own);
    }
    resize(inside_[n_items], parent.codes_);
    over_items(n, resolve_threads(n_threads_, n * 8), [&](std::size_t item, std::size_t begin, std::size_t end) {
        uint64_t words[kTableRows + 8];
        const std::size_t to = inside_[item];
        const uint8_t* flags = parent.flags_.data() + begin;
        std::size_t count = compress_words(flags, inside, parent.values_.data() + begin, end - begin, words);
        std::memcpy(values_.data() + to, words, 8 * count);
        for (std::size_t b = 0; b < codes_.n_blocks(); ++b) {
            compress_words(flags, inside, parent.codes_.block(b) + 8 * begin, end - begin, words);
            std::memcpy(words_.data() + 8 * (b * n_rows_ + to), words, 8 * count);
        }
        for (std::size_t i = begin, at = to; counted_ && i < end; ++i)
            if (parent.flags_[i] == inside) copies_[at++] = parent.copies_[i];
    });
    ends_ = chunk_ends(n_rows_, counted_ ? copies_.data() : nullptr);
}

std::size_t RowTable::divide(const LiteralMask& literal) {
    grow_to(flags_, n_rows_ + 8);
    inside_.assign((n_rows_ + kTableRows - 1) / kTableRows, 0);
    const RuleMask rule{literal};
    over_items(n_rows_, resolve_threads(n_threads_, n_rows_ * 8), [&](std::size_t item, std::size_t begin, auto end) {
        inside_[item] = mask_rows(codes_, rule, begin, end, flags_.data() + begin);
    });
    return std::accumulate(inside_.begin(), inside_.end(), std::size_t{0});
}

void RowTable::sum(const bool* side, int64_t* sums) const {
    RowChoice choice;
    if (side != nullptr) choice = {flags_.data(), static_cast<uint8_t>(*side)};
    const PackedWeights weights(values_.data(), counted_ ? copies_.data() : nullptr, pair_);
    if (shared_) return packed_histogram(codes_, weights, choice, sums);
    std::fill_n(sums, static_cast<std::size_t>(codes_.columns) * 256 * n_sums(), int64_t{0});
    histogram(codes_, weights, choice, ends_, n_threads_, sums);
}

}  // namespace permissible::rules
