// H p = r for the Newton step: H is symmetric positive definite, its upper triangle stored in rows of `stride` doubles.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "boundary/blocks.hpp"

namespace permissible::boundary {

/// Factor H = U'U in place. A pivot lost to rounding is replaced by a huge one, which drops its direction from the
/// step.
inline void factor(double* H, std::size_t size, std::size_t stride) {
    constexpr std::size_t panel = 48;
    std::vector<double> rows;
    for (std::size_t begin = 0; begin < size; begin += panel) {
        const std::size_t end = std::min(begin + panel, size);
        for (std::size_t k = begin; k < end; ++k) {
            double* pivot_row = H + k * stride;
            const double pivot = pivot_row[k] > 1e-300 ? std::sqrt(pivot_row[k]) : 1e150;
            for (std::size_t j = k; j < size; ++j) pivot_row[j] /= pivot;
            pivot_row[k] = pivot;
            for (std::size_t i = k + 1; i < end; ++i) axpy(-pivot_row[i], pivot_row + i, H + i * stride + i, size - i);
        }
        if (end < size) {
            rows.assign((end - begin) * stride, 0.0);
            for (std::size_t k = begin; k < end; ++k)
                for (std::size_t j = end; j < size; ++j) rows[(k - begin) * stride + j] = H[k * stride + j];
            rank_update(rows.data(), end - begin, stride, end, -1.0, H);
        }
    }
}

/// Solve U'U p = r in place.
inline void substitute(const double* U, std::size_t size, std::size_t stride, double* r) {
    for (std::size_t k = 0; k < size; ++k) {
        r[k] /= U[k * stride + k];
        axpy(-r[k], U + k * stride + k + 1, r + k + 1, size - k - 1);
    }
    for (std::size_t k = size; k-- > 0;) {
        r[k] -= dot(U + k * stride + k + 1, r + k + 1, size - k - 1);
        r[k] /= U[k * stride + k];
    }
}

}  // namespace permissible::boundary
