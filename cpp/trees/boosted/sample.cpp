// See sample.hpp.
#include "trees/boosted/sample.hpp"

#include <cmath>

#include "common/parallel.hpp"
#include "trees/boosted/scores/scores.hpp"

namespace permissible::boosted {

namespace {

inline __attribute__((always_inline)) uint32_t mixed(uint32_t x) {
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
}

/// Of n rows, as a byte, whether the row is taken: u < p for u in [0, 1) is (u mu)^2 < r^2, without root or division.
PERMISSIBLE_WIDE_CLONES
void decide(const float* g, const float* h, const uint32_t* hash, uint32_t key, float mu, std::size_t n,
            uint8_t* taken) {
    const float per_unit = mu / 2147483648.0f;
    for (std::size_t i = 0; i < n; ++i) {
        const auto bits = static_cast<int32_t>(mixed(hash[i] ^ key) >> 1);  // signed ones convert in vectors
        const float bar = static_cast<float>(bits) * per_unit;
        taken[i] = bar * bar < g[i] * g[i] + 0.1f * h[i] * h[i];
    }
}

/// Of n rows that were taken gradient and curvature, times 1 / p.
PERMISSIBLE_WIDE_CLONES
void divide_by_probability(const Draw& draw, const uint32_t* rows, std::size_t n, float* g, float* h) {
    for (std::size_t k = 0; k < n; ++k) g[k] = draw.gradient[rows[k]], h[k] = draw.curvature[rows[k]];
    for (std::size_t i = 0; i < n; ++i) {
        const float ratio = draw.mu / __builtin_sqrtf(g[i] * g[i] + 0.1f * h[i] * h[i]);
        const float inverse = ratio > 1.0f ? ratio : 1.0f;
        g[i] *= inverse, h[i] *= inverse;
    }
}

/// The sum of sizes, in units of `unit`.
PERMISSIBLE_WIDE_CLONES
int64_t sum_sizes(const float* values, std::size_t n, float grid) {
    int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<int32_t>(std::fabs(values[i]) * grid);
    return sum;
}

int64_t sum_sizes(const float* values, const uint32_t* rows, const int32_t* copies, std::size_t n, float grid) {
    if (!copies) return sum_sizes(values, n, grid);
    int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i)
        sum += static_cast<int64_t>(std::fabs(values[i]) * grid) * copies[rows ? rows[i] : i];
    return sum;
}

/// The power of two with 2^(bits-1) < largest * grid <= 2^bits.
double grid_to(double largest, int bits) {
    if (!(largest > 0.0) || !std::isfinite(largest)) return 1.0;
    int exponent = 0;
    const double mantissa = std::frexp(largest, &exponent);
    return std::ldexp(1.0, bits - exponent + (mantissa == 0.5));
}

PERMISSIBLE_WIDE_CLONES
void pack_rows(const float* g, const float* h, float g_grid, float h_grid, std::size_t n, int64_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto a = static_cast<int32_t>(std::nearbyintf(g[i] * g_grid));
        const auto b = static_cast<int32_t>(std::nearbyintf(h[i] * h_grid));
        out[i] = (static_cast<int64_t>(a) << 32) + b;
    }
}

}  // namespace

uint32_t round_key(uint64_t seed, uint64_t round) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u + round * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>((x ^ (x >> 31)) >> 16);
}

void take_rows(const Draw& draw, std::size_t begin, std::size_t end, Taken& taken) {
    uint8_t flags[kChunk];
    uint32_t place[kChunk + 8];
    for (std::size_t at = begin; at < end; at += kChunk) {
        const std::size_t n = std::min(kChunk, end - at), before = taken.count;
        decide(draw.gradient + at, draw.curvature + at, draw.hash + at, draw.key, draw.mu, n, flags);
        const std::size_t count = find_bytes(flags, 0, n, 1, place);
        taken.grow(before + count);
        uint32_t* rows = taken.rows.data() + before;
        for (std::size_t k = 0; k < count; ++k) rows[k] = static_cast<uint32_t>(at) + place[k];
        divide_by_probability(draw, rows, count, taken.gradient.data() + before, taken.curvature.data() + before);
        taken.weight += static_cast<int64_t>(count);
        if (draw.copies)
            for (std::size_t k = 0; k < count; ++k) taken.weight += draw.copies[rows[k]] - 1;
    }
}

void Taken::append(const Taken& other) {
    const std::size_t before = count;
    grow(before + other.count);
    std::copy_n(other.rows.begin(), other.count, rows.begin() + before);
    std::copy_n(other.gradient.begin(), other.count, gradient.begin() + before);
    std::copy_n(other.curvature.begin(), other.count, curvature.begin() + before);
}

int64_t sum_of_sizes(const Draw& draw, std::size_t begin, std::size_t end, float largest) {
    const double grid = grid_to(static_cast<double>(largest), 20);
    int64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const double g = draw.gradient[i], h = draw.curvature[i];
        const auto size = static_cast<int64_t>(std::sqrt(g * g + 0.1 * h * h) * grid);
        sum += draw.copies ? size * draw.copies[i] : size;
    }
    return sum;
}

void PackedRows::pack(const float* g, const float* h, const uint32_t* rows, const int32_t* copies, std::size_t n) {
    const Extremes most = extremes_of(g, h, n);
    const double first_g = grid_to(most.gradient, 30), first_h = grid_to(most.curvature, 30);
    const int64_t sum_g = sum_sizes(g, rows, copies, n, static_cast<float>(first_g));
    const int64_t sum_h = sum_sizes(h, rows, copies, n, static_cast<float>(first_h));
    // Truncated sums are short by less than one unit a row, rounded terms too long by at most half a unit.
    gradient_grid_ = grid_to(static_cast<double>(sum_g) / first_g, 30);
    curvature_grid_ = grid_to(static_cast<double>(sum_h) / first_h, 30);
    packed_.resize(n);
    pack_rows(g, h, static_cast<float>(gradient_grid_), static_cast<float>(curvature_grid_), n, packed_.data());
    weight_ = static_cast<int64_t>(n);
    if (!copies) return;
    weight_ = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const int32_t times = copies[rows ? rows[i] : i];
        packed_[i] *= times;
        weight_ += times;
    }
}

}  // namespace permissible::boosted
