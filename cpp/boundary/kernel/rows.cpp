// Rows of kernel values: whole blocks from kernel_blocks.cpp, the last one through a padded buffer.
#include "boundary/kernel/rows.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace permissible::boundary {

namespace {

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
    kernel_blocks(columns_.data(), whole, d_, narrow.data(), half_squares_.data(), static_cast<T>(square),
                  static_cast<T>(spec_.gamma), rbf, out);
    if (done < n_) {
        T buffer[kKernelBlock];
        kernel_blocks(columns_.data() + done * d_, 1, d_, narrow.data(), half_squares_.data() + done,
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
        case KernelKind::rbf: return static_cast<T>(1.0 + spec_.shift);
        case KernelKind::linear: return static_cast<T>(square_[i] + spec_.shift);
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
