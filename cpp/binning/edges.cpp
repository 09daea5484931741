// Radix sort of the sampled values, distinct values with their weights, boundaries, and thresholds as short decimals.
#include "binning/edges.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "binning/decimal.hpp"

namespace permissible::binning {

namespace {

// Keys order as the doubles do: flip all bits of negatives, the sign bit of the others.
uint64_t key_of(double value) {
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // + 0.0: -0.0 and 0.0 are one value
    return bits ^ ((bits >> 63) ? ~uint64_t{0} : uint64_t{1} << 63);
}

double value_of(uint64_t key) {
    return std::bit_cast<double>(key ^ ((key >> 63) ? uint64_t{1} << 63 : ~uint64_t{0}));
}

template <typename T>
bool load_keys(const ColumnView& column, const Sample& sample, EdgeBuffers& buffers) {
    bool missing = false;
    buffers.keys.clear();
    buffers.order.clear();
    for (size_t i = 0; i < sample.count; ++i) {
        const double value = *column.at<T>(sample.rows ? static_cast<size_t>(sample.rows[i]) : i);
        if (value != value) {
            missing = true;
            continue;
        }
        buffers.keys.push_back(key_of(value));
        if (sample.weights) buffers.order.push_back(static_cast<uint32_t>(i));
    }
    return missing;
}

// Least significant digit first; a digit that all keys share is skipped.
template <int kBits>
void radix_sort(EdgeBuffers& b, bool with_order) {
    constexpr int kPasses = (64 + kBits - 1) / kBits;
    constexpr size_t kBuckets = size_t{1} << kBits;
    const size_t n = b.keys.size();
    std::vector<uint32_t> counts(kPasses * kBuckets, 0);
    for (const uint64_t key : b.keys)
        for (int pass = 0; pass < kPasses; ++pass)
            ++counts[pass * kBuckets + ((key >> (pass * kBits)) & (kBuckets - 1))];
    b.swap.resize(n);
    if (with_order) b.order_swap.resize(n);
    for (int pass = 0; pass < kPasses; ++pass) {
        uint32_t* count = counts.data() + pass * kBuckets;
        if (count[(b.keys[0] >> (pass * kBits)) & (kBuckets - 1)] == n) continue;
        uint32_t start = 0;
        for (size_t bucket = 0; bucket < kBuckets; ++bucket) start += std::exchange(count[bucket], start);
        for (size_t i = 0; i < n; ++i) {
            const uint32_t to = count[(b.keys[i] >> (pass * kBits)) & (kBuckets - 1)]++;
            b.swap[to] = b.keys[i];
            if (with_order) b.order_swap[to] = b.order[i];
        }
        b.keys.swap(b.swap);
        if (with_order) b.order.swap(b.order_swap);
    }
}

void gather_distinct(const Sample& sample, EdgeBuffers& b) {
    b.distinct.clear();
    b.mass.clear();
    for (size_t i = 0; i < b.keys.size(); ++i) {
        const int64_t weight = sample.weights ? sample.weights[b.order[i]] : sample.unit;
        if (i > 0 && b.keys[i] == b.keys[i - 1]) {
            b.mass.back() += weight;
        } else {
            b.distinct.push_back(value_of(b.keys[i]));
            b.mass.push_back(weight);
        }
    }
}

}  // namespace

std::vector<size_t> equal_shares(const std::vector<int64_t>& mass, int max_bins) {
    using Wide = __int128;
    Wide total = 0;
    for (const int64_t m : mass) total += m;
    // The cap is a bin's share of what is left when the values above the cap have taken a bin each.
    Wide rest = total;
    int64_t shares = max_bins;
    for (bool settled = false; !settled;) {
        Wide light = total;
        int64_t free = max_bins;
        for (const int64_t m : mass)
            if (Wide{m} * shares > rest) {
                light -= m;
                --free;
            }
        settled = light == rest && free == shares;
        rest = light;
        shares = free;
    }
    const Wide cap = (rest + shares - 1) / shares;
    auto capped = [cap](int64_t m) { return Wide{m} < cap ? Wide{m} : cap; };
    Wide left = 0;
    for (const int64_t m : mass) left += capped(m);
    std::vector<size_t> ends;
    Wide inside = 0;
    int64_t bins = max_bins;
    for (size_t i = 0; i < mass.size() && bins > 1; ++i) {
        const Wide m = capped(mass[i]);
        // A boundary before value i when that is nearer to the share than one after it.
        if (inside > 0 && (2 * inside + m) * bins > 2 * left) {
            ends.push_back(i - 1);
            left -= inside;
            inside = 0;
            --bins;
        }
        inside += m;
    }
    return ends;
}

Edges find_edges(const ColumnView& column, const Sample& sample, int max_bins, EdgeBuffers& b) {
    Edges edges;
    edges.has_missing =
        column.type == Type::float32 ? load_keys<float>(column, sample, b) : load_keys<double>(column, sample, b);
    edges.exact = true;
    if (b.keys.empty()) return edges;
    if (b.keys.size() < 4096)
        radix_sort<8>(b, sample.weights != nullptr);
    else
        radix_sort<11>(b, sample.weights != nullptr);
    gather_distinct(sample, b);
    const size_t n = b.distinct.size();
    edges.exact = n <= static_cast<size_t>(max_bins);
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

}  // namespace permissible::binning
