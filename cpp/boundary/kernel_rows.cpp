// Kernel values a block at a time: products first, then the function of the product, each a plain vector loop.
#include "boundary/kernel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "common/parallel.hpp"

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
// 1e-7 and 1e-16. (Written out because a vector math library would ask for leave to reorder arithmetic.)
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
    const FloatBits power = (reinterpret_cast<const FloatBits&>(shifted) - 0x4B400000 + 127) << 23;
    return p * reinterpret_cast<const FloatPack&>(power);
}

PERMISSIBLE_INLINE DoublePack exp_negative(DoublePack x) {
    const DoublePack lowest = DoublePack{} - 700.0;
    x = x < lowest ? lowest : x;
    const DoublePack shifted = x * 1.4426950408889634074 + 6755399441055744.0;
    const DoublePack k = shifted - 6755399441055744.0;
    DoublePack r = x - k * 6.93147180369123816490e-01;
    r = r - k * 1.90821492927058770002e-10;
    DoublePack p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const DoubleBits power = (reinterpret_cast<const DoubleBits&>(shifted) - 0x4338000000000000LL + 1023) << 52;
    return p * reinterpret_cast<const DoublePack&>(power);
}

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

PERMISSIBLE_CLONES void all_blocks(const float* columns, std::size_t blocks, std::size_t d, const float* point,
                                   const float* squares, float square, float gamma, bool rbf, float* out) {
    blocks_body<FloatPack>(columns, blocks, d, point, squares, square, gamma, rbf, out);
}
PERMISSIBLE_CLONES void all_blocks(const double* columns, std::size_t blocks, std::size_t d, const double* point,
                                   const double* squares, double square, double gamma, bool rbf, double* out) {
    blocks_body<DoublePack>(columns, blocks, d, point, squares, square, gamma, rbf, out);
}

/// The same for four points at once, weighted and added up: the columns are read once for all of them.
PERMISSIBLE_CLONES void add_blocks(const double* columns, std::size_t blocks, std::size_t d, const double* points,
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

/// From products to the value of the kernels that need a library function.
template <typename T>
void finish(const KernelSpec& spec, std::size_t n, T* out) {
    if (spec.kind == KernelKind::poly)
        for (std::size_t r = 0; r < n; ++r)
            out[r] = static_cast<T>(std::pow(spec.gamma * static_cast<double>(out[r]) + spec.coef0, spec.degree));
    if (spec.kind == KernelKind::sigmoid)
        for (std::size_t r = 0; r < n; ++r)
            out[r] = static_cast<T>(std::tanh(spec.gamma * static_cast<double>(out[r]) + spec.coef0));
    if (spec.shift != 0)
        for (std::size_t r = 0; r < n; ++r) out[r] += static_cast<T>(spec.shift);
}

}  // namespace

template <typename T>
KernelRows<T>::KernelRows(const KernelSpec& spec, const double* x, std::size_t n, std::size_t d)
    : spec_(spec), x_(x), n_(n), d_(d) {
    const std::size_t blocks = (n + kKernelBlock - 1) / kKernelBlock;
    columns_.assign(blocks * kKernelBlock * d, T(0)), square_.assign(n, 0.0),
        half_squares_.assign(blocks * kKernelBlock, T(0));
    for (std::size_t i = 0; i < n; ++i) {
        T* column = columns_.data() + i / kKernelBlock * kKernelBlock * d + i % kKernelBlock;
        double square = 0;
        for (std::size_t j = 0; j < d; ++j) {
            const T value = static_cast<T>(x[i * d + j]);
            column[j * kKernelBlock] = value;
            square += static_cast<double>(value) * static_cast<double>(value);
        }
        square_[i] = square, half_squares_[i] = static_cast<T>(square);
    }
}

template <typename T>
void KernelRows<T>::row(const double* point, double square, T* out) const {
    std::vector<T> narrow(point, point + d_);
    const bool rbf = spec_.kind == KernelKind::rbf;
    const std::size_t whole = n_ / kKernelBlock, done = whole * kKernelBlock;
    all_blocks(columns_.data(), whole, d_, narrow.data(), half_squares_.data(), static_cast<T>(square),
               static_cast<T>(spec_.gamma), rbf, out);
    if (done < n_) {
        T buffer[kKernelBlock];
        all_blocks(columns_.data() + done * d_, 1, d_, narrow.data(), half_squares_.data() + done,
                   static_cast<T>(square), static_cast<T>(spec_.gamma), rbf, buffer);
        std::copy(buffer, buffer + (n_ - done), out + done);
    }
    finish(spec_, n_, out);
}

template <typename T>
void KernelRows<T>::add_four(const std::size_t* rows, const double* coef, double* out) const
    requires(std::is_same_v<T, double>)
{
    if (spec_.kind == KernelKind::poly || spec_.kind == KernelKind::sigmoid) {
        std::vector<double> values(n_);
        for (int p = 0; p < 4; ++p) {
            row(rows[p], values.data());
            for (std::size_t j = 0; j < n_; ++j) out[j] += coef[p] * values[j];
        }
        return;
    }
    std::vector<double> points(4 * d_);
    double own[4];
    for (std::size_t p = 0; p < 4; ++p) {
        own[p] = square_[rows[p]];
        for (std::size_t j = 0; j < d_; ++j) points[4 * j + p] = x_[rows[p] * d_ + j];
    }
    const bool rbf = spec_.kind == KernelKind::rbf;
    const std::size_t whole = n_ / kKernelBlock, done = whole * kKernelBlock;
    add_blocks(columns_.data(), whole, d_, points.data(), half_squares_.data(), own, coef, spec_.gamma, rbf,
               spec_.shift, out);
    if (done < n_) {
        double buffer[kKernelBlock] = {};
        std::copy(out + done, out + n_, buffer);
        add_blocks(columns_.data() + done * d_, 1, d_, points.data(), half_squares_.data() + done, own, coef,
                   spec_.gamma, rbf, spec_.shift, buffer);
        std::copy(buffer, buffer + (n_ - done), out + done);
    }
}

template <typename T>
T KernelRows<T>::diagonal(std::size_t i) const {
    switch (spec_.kind) {
        case KernelKind::rbf:
            return static_cast<T>(1.0 + spec_.shift);
        case KernelKind::linear:
            return static_cast<T>(square_[i] + spec_.shift);
        case KernelKind::poly:
            return static_cast<T>(std::pow(spec_.gamma * square_[i] + spec_.coef0, spec_.degree) + spec_.shift);
        case KernelKind::sigmoid:
            return static_cast<T>(std::tanh(spec_.gamma * square_[i] + spec_.coef0) + spec_.shift);
    }
    return T(0);
}

template class KernelRows<float>;
template class KernelRows<double>;

}  // namespace permissible::boundary
