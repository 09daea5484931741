// Maxima are taken block by block as plain vector loops; the index is then looked up in the winning block (the lowest
// one on ties).
#include "boundary/pairs.hpp"

#include <algorithm>

#include "common/parallel.hpp"

namespace permissible::boundary {

namespace {

constexpr std::size_t kBlock = 256;

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

typedef double Lane __attribute__((vector_size(32)));

PERMISSIBLE_INLINE double block_max(const double* v, std::size_t m) {
    double lanes[8];
    for (int a = 0; a < 8; ++a) lanes[a] = -1e300;
    std::size_t i = 0;
    for (; i + 8 <= m; i += 8)
        for (int a = 0; a < 8; ++a) lanes[a] = v[i + a] > lanes[a] ? v[i + a] : lanes[a];
    double best = -1e300;
    for (; i < m; ++i) best = v[i] > best ? v[i] : best;
    for (int a = 0; a < 8; ++a) best = lanes[a] > best ? lanes[a] : best;
    return best;
}

template <typename T>
PERMISSIBLE_INLINE Steepest move_body(double scale, const T* first, const T* second, const double* up,
                                      const double* down, double* f, std::size_t n) {
    Steepest found;
    double rise[kBlock], fall[kBlock];
    std::size_t block = n;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t m = std::min(kBlock, n - begin);
        double* score = f + begin;
        if (first != nullptr && second != nullptr)
            for (std::size_t i = 0; i < m; ++i)
                score[i] += scale * (static_cast<double>(first[begin + i]) - static_cast<double>(second[begin + i]));
        else if (first != nullptr)
            for (std::size_t i = 0; i < m; ++i) score[i] += scale * static_cast<double>(first[begin + i]);
        for (std::size_t i = 0; i < m; ++i) rise[i] = up[begin + i] - score[i];
        for (std::size_t i = 0; i < m; ++i) fall[i] = score[i] - down[begin + i];
        const double highest = block_max(rise, m), lowest = -block_max(fall, m);
        if (highest > found.up) found.up = highest, block = begin;
        found.down = std::min(found.down, lowest);
    }
    for (std::size_t i = block; i < std::min(n, block + kBlock); ++i)
        if (up[i] - f[i] == found.up) {
            found.row = i;
            break;
        }
    return found;
}

template <typename T>
PERMISSIBLE_INLINE void gains(double m, double diagonal, const T* row, const double* diagonals, const double* down,
                              const double* f, std::size_t count, double* out) {
    for (std::size_t j = 0; j < count; ++j) {
        double slope = m - down[j] + f[j];
        slope = slope > 0.0 ? slope : 0.0;
        double bend = diagonal + diagonals[j] - 2.0 * static_cast<double>(row[j]);
        bend = bend > 1e-12 ? bend : 1e-12;
        out[j] = slope * slope / bend;
    }
}

template <typename T>
PERMISSIBLE_INLINE std::size_t partner_body(double m, double diagonal, const T* row, const double* diagonals,
                                            const double* down, const double* f, std::size_t n) {
    double gain[kBlock];
    double best = 0;
    std::size_t block = n;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t count = std::min(kBlock, n - begin);
        gains(m, diagonal, row + begin, diagonals + begin, down + begin, f + begin, count, gain);
        const double highest = block_max(gain, count);
        if (highest > best) best = highest, block = begin;
    }
    if (block == n) return n;
    const std::size_t count = std::min(kBlock, n - block);
    gains(m, diagonal, row + block, diagonals + block, down + block, f + block, count, gain);
    for (std::size_t j = 0; j < count; ++j)
        if (gain[j] == best) return block + j;
    return n;
}

}  // namespace

PERMISSIBLE_CLONES Steepest move_scores(double scale, const float* first, const float* second, const double* up,
                                        const double* down, double* f, std::size_t n) {
    return move_body(scale, first, second, up, down, f, n);
}
PERMISSIBLE_CLONES Steepest move_scores(double scale, const double* first, const double* second, const double* up,
                                        const double* down, double* f, std::size_t n) {
    return move_body(scale, first, second, up, down, f, n);
}
PERMISSIBLE_CLONES std::size_t best_partner(double m, double diagonal, const float* row, const double* diagonals,
                                            const double* down, const double* f, std::size_t n) {
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
        double slope = std::max(up[i] - f[i], f[i] - down[i]);
        slope = slope > 0.0 ? slope : 0.0;
        const double gain = slope * slope / std::max(diagonals[i], 1e-12);
        if (gain > best) best = gain, row = i;
    }
    return row;
}

}  // namespace permissible::boundary
