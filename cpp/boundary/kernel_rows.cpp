// Kernel values a block at a time: products first, then the function of the product, each a plain vector loop.
#include "boundary/kernel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/parallel.hpp"

namespace permissible::boundary {

namespace {

// exp for x <= 0 by 2^k times a polynomial on [-ln2/2, ln2/2]; below the underflow bound it is 0. Relative error 1e-7
// and 1e-16. (Written out so that it vectorises without leave to reorder arithmetic, which a vector math library would
// ask for.)
inline float exp_negative(float x) {
    x = x < -87.0f ? -87.0f : x;
    const float shifted = x * 1.44269504088896341f + 12582912.0f;
    const float k = shifted - 12582912.0f;
    float r = x - k * 0.693359375f;
    r = r - k * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    int32_t power = (bits - 0x4B400000 + 127) << 23;
    float scale;
    std::memcpy(&scale, &power, sizeof scale);
    return p * scale;
}

inline double exp_negative(double x) {
    x = x < -700.0 ? -700.0 : x;
    const double shifted = x * 1.4426950408889634074 + 6755399441055744.0;
    const double k = shifted - 6755399441055744.0;
    double r = x - k * 6.93147180369123816490e-01;
    r = r - k * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
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
    int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    int64_t power = (bits - 0x4338000000000000LL + 1023) << 52;
    double scale;
    std::memcpy(&scale, &power, sizeof scale);
    return p * scale;
}

template <typename T>
inline __attribute__((always_inline)) void products(const T* columns, std::size_t d, const T* point, T* out) {
    for (std::size_t r = 0; r < kKernelBlock; ++r) out[r] = 0;
    std::size_t j = 0;
    for (; j + 4 <= d; j += 4) {
        const T a = point[j], b = point[j + 1], c = point[j + 2], e = point[j + 3];
        const T* column = columns + j * kKernelBlock;
        for (std::size_t r = 0; r < kKernelBlock; ++r)
            out[r] += ((a * column[r] + b * column[r + kKernelBlock]) +
                       (c * column[r + 2 * kKernelBlock] + e * column[r + 3 * kKernelBlock]));
    }
    for (; j < d; ++j) {
        const T a = point[j];
        const T* column = columns + j * kKernelBlock;
        for (std::size_t r = 0; r < kKernelBlock; ++r) out[r] += a * column[r];
    }
}

PERMISSIBLE_CLONES void block_products(const float* columns, std::size_t d, const float* point, float* out) {
    products(columns, d, point, out);
}
PERMISSIBLE_CLONES void block_products(const double* columns, std::size_t d, const double* point, double* out) {
    products(columns, d, point, out);
}
PERMISSIBLE_CLONES void block_rbf(const float* squares, float square, float gamma, float shift, float* out) {
    for (std::size_t r = 0; r < kKernelBlock; ++r) {
        float distance = square + squares[r] - 2.0f * out[r];
        distance = distance < 0.0f ? 0.0f : distance;
        out[r] = exp_negative(-gamma * distance) + shift;
    }
}
PERMISSIBLE_CLONES void block_rbf(const double* squares, double square, double gamma, double shift, double* out) {
    for (std::size_t r = 0; r < kKernelBlock; ++r) {
        double distance = square + squares[r] - 2.0 * out[r];
        distance = distance < 0.0 ? 0.0 : distance;
        out[r] = exp_negative(-gamma * distance) + shift;
    }
}

template <typename T>
void finish(const KernelSpec& spec, const T* squares, double square, T* out) {
    switch (spec.kind) {
        case KernelKind::rbf:
            block_rbf(squares, static_cast<T>(square), static_cast<T>(spec.gamma), static_cast<T>(spec.shift), out);
            return;
        case KernelKind::linear:
            for (std::size_t r = 0; r < kKernelBlock; ++r) out[r] += static_cast<T>(spec.shift);
            return;
        case KernelKind::poly:
            for (std::size_t r = 0; r < kKernelBlock; ++r)
                out[r] = static_cast<T>(std::pow(spec.gamma * out[r] + spec.coef0, spec.degree) + spec.shift);
            return;
        case KernelKind::sigmoid:
            for (std::size_t r = 0; r < kKernelBlock; ++r)
                out[r] = static_cast<T>(std::tanh(spec.gamma * out[r] + spec.coef0) + spec.shift);
            return;
    }
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
    T buffer[kKernelBlock];
    for (std::size_t begin = 0; begin < n_; begin += kKernelBlock) {
        const std::size_t width = std::min(kKernelBlock, n_ - begin);
        T* target = width == kKernelBlock ? out + begin : buffer;
        block_products(columns_.data() + begin * d_, d_, narrow.data(), target);
        finish(spec_, half_squares_.data() + begin, square, target);
        if (target == buffer) std::copy(buffer, buffer + width, out + begin);
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
