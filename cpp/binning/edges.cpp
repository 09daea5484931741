// Radix sort of the sampled values, distinct values with their weights, boundaries, and thresholds as short decimals.
#include "binning/edges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "binning/decimal.hpp"
#include "common/parallel.hpp"

namespace permissible::binning {

namespace {

constexpr size_t kGroup = 8;  // columns that are read together: a cache line of a row-major matrix

/// Buffers of one thread, reused from column to column.
struct EdgeBuffers {
    std::vector<double> values;
    std::vector<uint64_t> keys, swap;
    std::vector<uint32_t> order, order_swap;
    std::vector<double> distinct;
    std::vector<int64_t> mass;
};

// Keys order as the doubles do: flip all bits of negatives, the sign bit of the others.
uint64_t key_of(double value) {
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // + 0.0: -0.0 and 0.0 are one value
    return bits ^ ((bits >> 63) ? ~uint64_t{0} : uint64_t{1} << 63);
}

double value_of(uint64_t key) { return std::bit_cast<double>(key ^ ((key >> 63) ? uint64_t{1} << 63 : ~uint64_t{0})); }

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

/// Leaves the different keys in order where there are at most `limit`; false at the first one more. Columns of few
/// values need no sort of their rows then.
bool few_distinct(EdgeBuffers& b, size_t limit) {
    constexpr size_t kSlots = 1024;  // at most a quarter is filled
    uint64_t slot[kSlots];
    bool filled[kSlots] = {};
    size_t count = 0;
    uint64_t last = ~b.keys[0];
    for (const uint64_t key : b.keys) {
        if (key == last) continue;
        last = key;
        size_t at = (key * 0x9e3779b97f4a7c15u) >> 54;
        while (filled[at] && slot[at] != key) at = (at + 1) % kSlots;
        if (filled[at]) continue;
        if (++count > limit) return false;
        filled[at] = true;
        slot[at] = key;
    }
    b.distinct.clear();
    std::vector<uint64_t> keys;
    for (size_t at = 0; at < kSlots; ++at)
        if (filled[at]) keys.push_back(slot[at]);
    std::sort(keys.begin(), keys.end());
    for (const uint64_t key : keys) b.distinct.push_back(value_of(key));
    return true;
}

Edges edges_of_keys(const Sample& sample, bool has_missing, int max_bins, EdgeBuffers& b) {
    Edges edges;
    edges.has_missing = has_missing;
    edges.exact = true;
    if (b.keys.empty()) return edges;
    edges.exact = few_distinct(b, static_cast<size_t>(max_bins));
    if (!edges.exact) {
        sort_keys(b, sample.weights != nullptr);
        gather_distinct(sample, b);
    }
    const size_t n = b.distinct.size();
    std::vector<size_t> ends;
    if (edges.exact) {
        ends.resize(n - 1);
        std::iota(ends.begin(), ends.end(), size_t{0});
    } else {
        ends = equal_shares(b.mass, max_bins);
    }
    edges.thresholds.reserve(ends.size());
    for (const size_t i : ends) edges.thresholds.push_back(separate(b.distinct[i], b.distinct[i + 1]));
    return edges;
}

// The sampled values of a group of columns next to each other, row by row, so that a row-major matrix is read once.
void gather(const ColumnView* columns, size_t n_columns, const Sample& sample, std::vector<double>& values) {
    constexpr size_t kRows = 512;
    values.resize(n_columns * sample.count);
    for (size_t first = 0; first < sample.count; first += kRows) {
        const size_t last = std::min(first + kRows, sample.count);
        for (size_t j = 0; j < n_columns; ++j) {
            double* to = values.data() + j * sample.count;
            for (size_t i = first; i < last; ++i) {
                const size_t row = sample.rows ? static_cast<size_t>(sample.rows[i]) : i;
                to[i] = columns[j].number(row);
            }
        }
    }
}

void find_group(const ColumnView* columns, size_t n_columns, const Sample& sample, int max_bins, EdgeBuffers& b,
                Edges* edges) {
    gather(columns, n_columns, sample, b.values);
    for (size_t j = 0; j < n_columns; ++j) {
        const double* value = b.values.data() + j * sample.count;
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
        edges[j] = edges_of_keys(sample, b.keys.size() < sample.count, max_bins, b);
    }
}

}  // namespace

std::vector<Edges> find_edges(const std::vector<ColumnView>& columns, const Sample& sample, int max_bins,
                              int n_threads) {
    std::vector<Edges> edges(columns.size());
    [[maybe_unused]] const int threads = resolve_threads(n_threads, sample.count * columns.size());
    const auto n_groups = static_cast<int64_t>((columns.size() + kGroup - 1) / kGroup);
#pragma omp parallel num_threads(threads)
    {
        EdgeBuffers buffers;
#pragma omp for schedule(dynamic)
        for (int64_t group = 0; group < n_groups; ++group) {
            const size_t first = static_cast<size_t>(group) * kGroup;
            const size_t n = std::min(kGroup, columns.size() - first);
            find_group(columns.data() + first, n, sample, max_bins, buffers, edges.data() + first);
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
