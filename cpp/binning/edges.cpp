// Radix sort of the sampled values, distinct values with their weights, boundaries, and thresholds as short decimals.
#include "binning/edges.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "binning/decimal.hpp"
#include "binning/few_values.hpp"
#include "common/parallel.hpp"

namespace permissible::binning {

namespace {

constexpr size_t kReadTogether = 64, kCopied = 8;  // columns at once: read where they lie, and copied
constexpr size_t kRows = 64;                       // rows of them that stay in the first cache

/// Buffers of one thread, reused from column to column.
struct EdgeBuffers {
    std::vector<double> values;
    std::vector<uint64_t> keys, swap;
    std::vector<uint32_t> order, order_swap;
    std::vector<double> distinct;
    std::vector<int64_t> mass;
};

// Least significant digit first over the bits from kFrom up; a digit that all keys share is skipped.
template <int kBits, int kFrom>
void radix_sort(EdgeBuffers& b, bool with_order) {
    constexpr int kPasses = (64 - kFrom + kBits - 1) / kBits;
    constexpr size_t kBuckets = size_t{1} << kBits;
    const size_t n = b.keys.size();
    auto digit = [](uint64_t key, int pass) { return (key >> (kFrom + pass * kBits)) & (kBuckets - 1); };
    std::vector<uint32_t> counts(kPasses * kBuckets, 0);
    for (const uint64_t key : b.keys)
        for (int pass = 0; pass < kPasses; ++pass) ++counts[pass * kBuckets + digit(key, pass)];
    b.swap.resize(n);
    if (with_order) b.order_swap.resize(n);
    for (int pass = 0; pass < kPasses; ++pass) {
        uint32_t* count = counts.data() + pass * kBuckets;
        if (count[digit(b.keys[0], pass)] == n) continue;
        uint32_t start = 0;
        for (size_t bucket = 0; bucket < kBuckets; ++bucket) start += std::exchange(count[bucket], start);
        for (size_t i = 0; i < n; ++i) {
            const uint32_t to = count[digit(b.keys[i], pass)]++;
            b.swap[to] = b.keys[i];
            if (with_order) b.order_swap[to] = b.order[i];
        }
        b.keys.swap(b.swap);
        if (with_order) b.order.swap(b.order_swap);
    }
}

// Insertion sort of keys that are nearly in order; returns false when they are not.
bool finish(EdgeBuffers& b, bool with_order) {
    int64_t budget = 4 * static_cast<int64_t>(b.keys.size());
    for (size_t i = 1; i < b.keys.size(); ++i) {
        const uint64_t key = b.keys[i];
        if (b.keys[i - 1] <= key) continue;
        const uint32_t row = with_order ? b.order[i] : 0;
        size_t to = i;
        for (; to > 0 && b.keys[to - 1] > key; --to) {
            b.keys[to] = b.keys[to - 1];
            if (with_order) b.order[to] = b.order[to - 1];
            --budget;
        }
        b.keys[to] = key;
        if (with_order) b.order[to] = row;
        if (budget < 0) return false;
    }
    return true;
}

void sort_keys(EdgeBuffers& b, bool with_order) {
    if (b.keys.size() < 4096) return radix_sort<8, 0>(b, with_order);
    // Sign, exponent and 21 bits of the mantissa nearly sort a sample; only values that agree in these need the other
    // bits.
    radix_sort<11, 31>(b, with_order);
    if (!finish(b, with_order)) radix_sort<11, 0>(b, with_order);
}

void gather_distinct(const Sample& sample, EdgeBuffers& b) {
    const size_t n = b.keys.size();
    b.distinct.resize(n);
    b.mass.assign(n, 0);
    size_t last = 0;
    for (size_t i = 0; i < n; ++i) {
        last += i > 0 && b.keys[i] != b.keys[i - 1];
        b.distinct[last] = value_of(b.keys[i]);
        b.mass[last] += sample.weights ? sample.weights[b.order[i]] : sample.unit;
    }
    b.distinct.resize(last + 1);
    b.mass.resize(last + 1);
}

/// Where bins end: positions i such that a boundary lies between distinct values i and i+1, for bins of equal weight,
/// where heavy values are capped at the weight of a bin (a heavy value gets a bin of its own).
std::vector<size_t> equal_shares(const std::vector<int64_t>& mass, int max_bins) {
    // All in 64 bits: the weights sum to less than 2^61, and m * k > r is m > floor(r / k) for integers.
    int64_t total = 0;
    for (const int64_t m : mass) total += m;
    // The cap is the weight of a bin once each value above the cap has a bin of its own.
    int64_t rest = total, shares = max_bins;
    for (bool settled = false; !settled;) {
        const int64_t share = rest / shares;
        int64_t light = total, free = max_bins;
        for (const int64_t m : mass) {
            light -= m > share ? m : 0;
            free -= m > share;
        }
        settled = light == rest && free == shares;
        rest = light;
        shares = free;
    }
    const int64_t cap = (rest + shares - 1) / shares;
    int64_t left = 0;
    for (const int64_t m : mass) left += std::min(m, cap);
    std::vector<size_t> ends;
    int64_t inside = 0, bins = max_bins, twice_share = 2 * left / bins;
    for (size_t i = 0; i < mass.size() && bins > 1; ++i) {
        const int64_t m = std::min(mass[i], cap);
        // A boundary before value i if that is closer to equal weight than one after it.
        if (inside > 0 && 2 * inside + m > twice_share) {
            ends.push_back(i - 1);
            left -= inside;
            inside = 0;
            --bins;
            twice_share = 2 * left / bins;
        }
        inside += m;
    }
    return ends;
}

/// A threshold between all neighbours.
std::vector<double> between(const std::vector<double>& distinct) {
    std::vector<double> thresholds;
    for (size_t i = 0; i + 1 < distinct.size(); ++i) thresholds.push_back(separate(distinct[i], distinct[i + 1]));
    return thresholds;
}

std::vector<double> edges_of_keys(const Sample& sample, int max_bins, EdgeBuffers& b) {
    sort_keys(b, sample.weights != nullptr);
    gather_distinct(sample, b);
    std::vector<double> thresholds;
    for (const size_t i : equal_shares(b.mass, max_bins))
        thresholds.push_back(separate(b.distinct[i], b.distinct[i + 1]));
    return thresholds;
}

/// The sampled values [first, last) of a column next to each other.
void gather(const ColumnView& column, const Sample& sample, size_t first, size_t last, double* to) {
    for (size_t i = first; i < last; ++i)
        to[i - first] = column.number(sample.rows ? static_cast<size_t>(sample.rows[i]) : i);
}

/// Which columns of a row-major tile of numbers hold another value than their last two; compared row by row, all
/// columns at once. Columns that lie otherwise always may.
class TwoValues {
  public:
    TwoValues(const ColumnView* columns, size_t n_columns, const Sample& sample)
        : sample_(sample), base_(columns[0]), n_columns_(n_columns) {
        for (size_t j = 0; j < n_columns; ++j)
            adjacent_ = adjacent_ && columns[j].type == ColumnType::float32 && columns[j].stride == base_.stride &&
                        columns[j].data == base_.at<float>(0) + j;
    }

    void look(const std::vector<FewValues>& few, size_t first, size_t last) {
        if (!adjacent_) return;
        for (size_t j = 0; j < n_columns_; ++j)
            latest_[j] = static_cast<float>(few[j].latest()), before_[j] = static_cast<float>(few[j].before());
        std::fill(others_, others_ + kReadTogether, 0);
        for (size_t i = first; i < last; ++i)
            compare(base_.at<float>(sample_.rows ? static_cast<size_t>(sample_.rows[i]) : i), n_columns_, latest_,
                    before_, others_);
    }
    bool hold(size_t j) const { return adjacent_ && others_[j] == 0; }

  private:
    PERMISSIBLE_CLONES
    static void compare(const float* value, size_t n, const float* latest, const float* before, int32_t* others) {
        for (size_t j = 0; j < n; ++j) others[j] |= !((value[j] == latest[j]) | (value[j] == before[j]));
    }

    const Sample& sample_;
    const ColumnView& base_;
    size_t n_columns_;
    bool adjacent_ = true;
    float latest_[kReadTogether], before_[kReadTogether];
    int32_t others_[kReadTogether];
};

/// The columns of few values, of which no row needs to be sorted; returns the others.
std::vector<size_t> find_few(const ColumnView* columns, size_t n_columns, const Sample& sample, int max_bins,
                             Edges* edges) {
    std::vector<FewValues> few(n_columns);
    std::vector<size_t> left(n_columns);
    std::iota(left.begin(), left.end(), size_t{0});
    TwoValues two(columns, n_columns, sample);
    double value[kRows];
    for (size_t first = 0; first < sample.count && !left.empty(); first += kRows) {
        const size_t last = std::min(first + kRows, sample.count);
        two.look(few, first, last);
        std::erase_if(left, [&](size_t j) {
            if (two.hold(j)) return false;
            gather(columns[j], sample, first, last, value);
            return !few[j].add(value, last - first, static_cast<size_t>(max_bins));
        });
    }
    std::vector<size_t> many;
    for (size_t j = 0; j < n_columns; ++j) {
        edges[j].exact = std::find(left.begin(), left.end(), j) != left.end();
        if (!edges[j].exact) {
            many.push_back(j);
            continue;
        }
        edges[j].has_missing = few[j].missing();
        edges[j].thresholds = between(few[j].sorted());
    }
    return many;
}

/// Bins of equal weight of a few columns, whose values are copied next to each other.
void find_many(const ColumnView* columns, const size_t* chosen, size_t n_chosen, const Sample& sample, int max_bins,
               EdgeBuffers& b, Edges* edges) {
    b.values.resize(n_chosen * sample.count);
    for (size_t first = 0; first < sample.count; first += kRows)  // so that a row-major matrix is read once
        for (size_t k = 0; k < n_chosen; ++k)
            gather(columns[chosen[k]], sample, first, std::min(first + kRows, sample.count),
                   b.values.data() + k * sample.count + first);
    for (size_t k = 0; k < n_chosen; ++k) {
        const double* value = b.values.data() + k * sample.count;
        b.keys.resize(sample.count);
        b.order.resize(sample.weights ? sample.count : 0);
        size_t present = 0;
        for (size_t i = 0; i < sample.count; ++i) {
            b.keys[present] = key_of(value[i]);
            if (sample.weights) b.order[present] = static_cast<uint32_t>(i);
            present += value[i] == value[i];
        }
        b.keys.resize(present);
        if (sample.weights) b.order.resize(present);
        edges[chosen[k]].has_missing = present < sample.count;
        edges[chosen[k]].thresholds = edges_of_keys(sample, max_bins, b);
    }
}

}  // namespace

std::vector<Edges> find_edges(const std::vector<ColumnView>& columns, const Sample& sample, int max_bins,
                              int n_threads) {
    std::vector<Edges> edges(columns.size());
    const int threads = resolve_threads(n_threads, sample.count * columns.size());
    const size_t group =
        std::clamp(columns.size() / static_cast<size_t>(std::max(threads, 1)) + 1, kCopied, kReadTogether);
    const auto n_groups = static_cast<int64_t>((columns.size() + group - 1) / group);
#pragma omp parallel num_threads(threads)
    {
        EdgeBuffers buffers;
#pragma omp for schedule(dynamic)
        for (int64_t at = 0; at < n_groups; ++at) {
            const size_t first = static_cast<size_t>(at) * group, n = std::min(group, columns.size() - first);
            const auto many = find_few(columns.data() + first, n, sample, max_bins, edges.data() + first);
            for (size_t k = 0; k < many.size(); k += kCopied)
                find_many(columns.data() + first, many.data() + k, std::min(kCopied, many.size() - k), sample, max_bins,
                          buffers, edges.data() + first);
        }
    }
    return edges;
}

uint64_t largest_kept(const uint64_t* hashes, size_t n, size_t limit) {
    constexpr uint64_t kTop = ~uint64_t{0};
    if (n <= limit) return kTop;
    EdgeBuffers b;
    for (double share = 1.1 * static_cast<double>(limit) / static_cast<double>(n);; share *= 4) {
        const uint64_t bound = share >= 1 ? kTop : static_cast<uint64_t>(std::ldexp(share, 64));
        b.keys.clear();
        for (size_t i = 0; i < n; ++i)
            if (hashes[i] <= bound) b.keys.push_back(hashes[i]);
        if (!b.keys.empty()) sort_keys(b, false);
        size_t different = 0;
        for (size_t i = 0; i < b.keys.size(); ++i)
            if ((i == 0 || b.keys[i] != b.keys[i - 1]) && ++different == limit) return b.keys[i];
        if (bound == kTop) return kTop;
    }
}

}  // namespace permissible::binning
