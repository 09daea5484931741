// Maxima are taken block by block as plain vector loops; the index is then looked up in the winning block (the lowest
// one on ties).
#include "boundary/kernel/pairs.hpp"

#include <algorithm>
#include <cstring>

#include "common/parallel.hpp"

namespace permissible::boundary {

namespace {

constexpr std::size_t kBlock = 256;

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

typedef double Lane __attribute__((vector_size(32)));
typedef float HalfLane __attribute__((vector_size(16)));

PERMISSIBLE_INLINE Lane load(const double* p) {
    Lane v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
PERMISSIBLE_INLINE Lane load(const float* p) {
    HalfLane v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, Lane);
}
PERMISSIBLE_INLINE double highest(const Lane& v) { return std::max(std::max(v[0], v[1]), std::max(v[2], v[3])); }

template <typename T>
PERMISSIBLE_INLINE Steepest move_body(double scale, const T* first, const T* second, const T* up, const T* down,
                                      double* f, std::size_t n) {
    Steepest found;
    std::size_t block = n;
    const Lane least = Lane{} - 1e300;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t end = std::min(begin + kBlock, n);
        Lane rise = least, fall = least;
        std::size_t i = begin;
        for (; i + 4 <= end; i += 4) {
            Lane score = load(f + i);
            if (first != nullptr) {
                score += scale * (second != nullptr ? load(first + i) - load(second + i) : load(first + i));
                std::memcpy(f + i, &score, sizeof score);
            }
            const Lane high = load(up + i) - score, low = score - load(down + i);
            rise = high > rise ? high : rise;
            fall = low > fall ? low : fall;
        }
        double most = highest(rise), deepest = highest(fall);
        for (; i < end; ++i) {
            if (first != nullptr)
                f[i] += scale * (second != nullptr ? static_cast<double>(first[i]) - static_cast<double>(second[i])
                                                   : static_cast<double>(first[i]));
            most = std::max(most, static_cast<double>(up[i]) - f[i]),
            deepest = std::max(deepest, f[i] - static_cast<double>(down[i]));
        }
        if (most > found.up) found.up = most, block = begin;
        found.down = std::min(found.down, -deepest);
    }
    for (std::size_t i = block; i < std::min(n, block + kBlock); ++i)
        if (static_cast<double>(up[i]) - f[i] == found.up) {
            found.row = i;
            break;
        }
    return found;
}

/// The gain of one partner. In single precision: it only ranks, and divides twice as fast.
PERMISSIBLE_INLINE float gain_of(double m, double diagonal, double row, double other, double down, double score) {
    const float slope = static_cast<float>(std::max(m - down + score, 0.0));
    const float bend = static_cast<float>(std::max(diagonal + other - 2.0 * row, 1e-12));
    return slope * slope / bend;
}

template <typename T>
PERMISSIBLE_INLINE std::size_t partner_body(double m, double diagonal, const T* row, const double* diagonals,
                                            const T* down, const double* f, std::size_t n) {
    float best = 0;
    std::size_t block = n;
    const Lane tiny = Lane{} + 1e-12;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t end = std::min(begin + kBlock, n);
        HalfLane top = {0, 0, 0, 0};
        std::size_t j = begin;
        for (; j + 4 <= end; j += 4) {
            Lane slope = m - load(down + j) + load(f + j);
            slope = slope > 0.0 ? slope : Lane{};
            Lane bend =
                diagonal + (diagonals != nullptr ? load(diagonals + j) : Lane{} + diagonal) - 2.0 * load(row + j);
            bend = bend > tiny ? bend : tiny;
            const HalfLane narrow = __builtin_convertvector(slope, HalfLane);
            const HalfLane gain = narrow * narrow / __builtin_convertvector(bend, HalfLane);
            top = gain > top ? gain : top;
        }
        float most = std::max(std::max(top[0], top[1]), std::max(top[2], top[3]));
        for (; j < end; ++j)
            most = std::max(most, gain_of(m, diagonal, static_cast<double>(row[j]),
                                          diagonals != nullptr ? diagonals[j] : diagonal, down[j], f[j]));
        if (most > best) best = most, block = begin;
    }
    for (std::size_t j = block; j < std::min(n, block + kBlock); ++j)
        if (gain_of(m, diagonal, static_cast<double>(row[j]), diagonals != nullptr ? diagonals[j] : diagonal, down[j],
                    f[j]) == best)
            return j;
    return n;
}

}  // namespace

PERMISSIBLE_CLONES Steepest move_scores(double scale, const float* first, const float* second, const float* up,
                                        const float* down, double* f, std::size_t n) {
    return move_body(scale, first, second, up, down, f, n);
}
PERMISSIBLE_CLONES Steepest move_scores(double scale, const double* first, const double* second, const double* up,
                                        const double* down, double* f, std::size_t n) {
    return move_body(scale, first, second, up, down, f, n);
}
PERMISSIBLE_CLONES std::size_t best_partner(double m, double diagonal, const float* row, const double* diagonals,
                                            const float* down, const double* f, std::size_t n) {
    return partner_body(m, diagonal, row, diagonals, down, f, n);
}
PERMISSIBLE_CLONES std::size_t best_partner(double m, double diagonal, const double* row, const double* diagonals,
                                            const double* down, const double* f, std::size_t n) {
    return partner_body(m, diagonal, row, diagonals, down, f, n);
}

PERMISSIBLE_CLONES std::size_t best_single(const double* diagonals, const double* up, const double* down,
                                           const double* f, std::size_t n) {
    double best = 0;
    std::size_t row = n;
    for (std::size_t i = 0; i < n; ++i) {
        double slope = std::max(static_cast<double>(up[i]) - f[i], f[i] - static_cast<double>(down[i]));
        slope = slope > 0.0 ? slope : 0.0;
        const double gain = slope * slope / std::max(diagonals[i], 1e-12);
        if (gain > best) best = gain, row = i;
    }
    return row;
}

}  // namespace permissible::boundary
