// Kernel values a block at a time: products first, then the function of the product, each on whole packs of lanes.
//
// This file alone is compiled with fused multiply-adds allowed. That is safe here because there is no tail: every row
// goes through the same instructions in a full block of kKernelBlock rows (the last one is padded), so a value depends
// on its two points alone, never on its place, on the number of rows or on threads. Keep loops over single rows out of
// it.
#include "boundary/kernel/blocks.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/elementary.hpp"

namespace permissible::boundary {

namespace {

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

typedef float FloatPack __attribute__((vector_size(32)));
typedef int32_t FloatBits __attribute__((vector_size(32)));
typedef double DoublePack __attribute__((vector_size(32)));
typedef int64_t DoubleBits __attribute__((vector_size(32)));

template <typename Pack, typename T>
PERMISSIBLE_INLINE Pack load(const T* p) {
    Pack v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

// exp for x <= 0 by 2^k times a polynomial on [-ln2/2, ln2/2]; held at the underflow bound below it. Relative error
// 1e-7 in single precision. (Written out because vector math libraries require that arithmetic may be reordered.)
PERMISSIBLE_INLINE FloatPack exp_negative(FloatPack x) {
    const FloatPack lowest = FloatPack{} - 87.0f;
    x = x < lowest ? lowest : x;
    const FloatPack shifted = x * 1.44269504088896341f + 12582912.0f;
    const FloatPack k = shifted - 12582912.0f;
    FloatPack r = x - k * 0.693359375f;
    r = r - k * -2.12194440e-4f;
    FloatPack p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const FloatBits power = (std::bit_cast<FloatBits>(shifted) - 0x4B400000 + 127) << 23;
    return p * std::bit_cast<FloatPack>(power);
}

PERMISSIBLE_INLINE DoublePack exp_negative(DoublePack x) { return exponential<DoublePack, DoubleBits>(x); }

/// Products of one point with every block of points, and for the rbf kernel the whole value.
template <typename Pack, typename T>
PERMISSIBLE_INLINE void blocks_body(const T* columns, std::size_t blocks, std::size_t d, const T* point,
                                    const T* squares, T square, T gamma, bool rbf, T* out) {
    constexpr std::size_t lanes = sizeof(Pack) / sizeof(T), packs = kKernelBlock / lanes;
    for (std::size_t block = 0; block < blocks;
         ++block, columns += d * kKernelBlock, out += kKernelBlock, squares += kKernelBlock) {
        Pack sum[packs] = {};
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t a = 0; a < packs; ++a)
                sum[a] += point[j] * load<Pack>(columns + j * kKernelBlock + a * lanes);
        if (rbf)
            for (std::size_t a = 0; a < packs; ++a) {
                Pack distance = square + load<Pack>(squares + a * lanes) - T(2) * sum[a];
                distance = distance < T(0) ? Pack{} : distance;
                sum[a] = exp_negative(-gamma * distance);
            }
        std::memcpy(out, sum, sizeof sum);
    }
}

/// The same for four points at once, weighted and added up: the columns are read once for all of them.
PERMISSIBLE_INLINE void add_body(const double* columns, std::size_t blocks, std::size_t d, const double* points,
                                 const double* squares, const double* own, const double* coef, double gamma, bool rbf,
                                 double shift, double* out) {
    constexpr std::size_t lanes = 4, wide = 2;
    for (std::size_t block = 0; block < blocks;
         ++block, columns += d * kKernelBlock, squares += kKernelBlock, out += kKernelBlock) {
        for (std::size_t begin = 0; begin < kKernelBlock; begin += wide * lanes) {
            DoublePack sum[4][wide] = {};
            for (std::size_t j = 0; j < d; ++j) {
                const double* column = columns + j * kKernelBlock + begin;
                const DoublePack left = load<DoublePack>(column), right = load<DoublePack>(column + lanes);
                for (std::size_t p = 0; p < 4; ++p)
                    sum[p][0] += points[4 * j + p] * left, sum[p][1] += points[4 * j + p] * right;
            }
            for (std::size_t a = 0; a < wide; ++a) {
                DoublePack total = load<DoublePack>(out + begin + a * lanes);
                for (std::size_t p = 0; p < 4; ++p) {
                    DoublePack value = sum[p][a];
                    if (rbf) {
                        DoublePack distance = own[p] + load<DoublePack>(squares + begin + a * lanes) - 2.0 * value;
                        distance = distance < 0.0 ? DoublePack{} : distance;
                        value = exp_negative(-gamma * distance);
                    }
                    total += coef[p] * (value + shift);
                }
                std::memcpy(out + begin + a * lanes, &total, sizeof total);
            }
        }
    }
}

void add_plain(const double* columns, std::size_t blocks, std::size_t d, const double* points, const double* squares,
               const double* own, const double* coef, double gamma, bool rbf, double shift, double* out) {
    add_body(columns, blocks, d, points, squares, own, coef, gamma, rbf, shift, out);
}

// Where the machine has fused multiply-add, chosen once: half the arithmetic.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PERMISSIBLE_FUSED __attribute__((target("avx2,fma")))
const bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
#define PERMISSIBLE_FUSED
const bool fused = false;
#endif

PERMISSIBLE_FUSED void all_fused(const float* columns, std::size_t blocks, std::size_t d, const float* point,
                                 const float* squares, float square, float gamma, bool rbf, float* out) {
    blocks_body<FloatPack>(columns, blocks, d, point, squares, square, gamma, rbf, out);
}
PERMISSIBLE_FUSED void all_fused(const double* columns, std::size_t blocks, std::size_t d, const double* point,
                                 const double* squares, double square, double gamma, bool rbf, double* out) {
    blocks_body<DoublePack>(columns, blocks, d, point, squares, square, gamma, rbf, out);
}
PERMISSIBLE_FUSED void add_fused(const double* columns, std::size_t blocks, std::size_t d, const double* points,
                                 const double* squares, const double* own, const double* coef, double gamma, bool rbf,
                                 double shift, double* out) {
    add_body(columns, blocks, d, points, squares, own, coef, gamma, rbf, shift, out);
}

}  // namespace

template <typename T>
void kernel_blocks(const T* columns, std::size_t blocks, std::size_t d, const T* point, const T* squares, T square,
                   T gamma, bool rbf, T* out) {
    using Pack = std::conditional_t<std::is_same_v<T, float>, FloatPack, DoublePack>;
    if (fused)
        all_fused(columns, blocks, d, point, squares, square, gamma, rbf, out);
    else
        blocks_body<Pack>(columns, blocks, d, point, squares, square, gamma, rbf, out);
}
template void kernel_blocks(const float*, std::size_t, std::size_t, const float*, const float*, float, float, bool,
                            float*);
template void kernel_blocks(const double*, std::size_t, std::size_t, const double*, const double*, double, double, bool,
                            double*);

void add_blocks(const double* columns, std::size_t blocks, std::size_t d, const double* points, const double* squares,
                const double* own, const double* coef, double gamma, bool rbf, double shift, double* out) {
    (fused ? add_fused : add_plain)(columns, blocks, d, points, squares, own, coef, gamma, rbf, shift, out);
}

}  // namespace permissible::boundary
