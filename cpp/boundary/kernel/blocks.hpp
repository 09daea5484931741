// Products and rbf values of points with whole blocks of rows that lie column by column.
#pragma once

#include <cstddef>

namespace permissible::boundary {

/// The points lie column by column in blocks of this many rows: the results of a block stay in registers.
inline constexpr std::size_t kKernelBlock = 32;

/// out = the products of one point with every row of `blocks` blocks, or with `rbf` exp(-gamma |point - row|^2).
template <typename T>
void kernel_blocks(const T* columns, std::size_t blocks, std::size_t d, const T* point, const T* squares, T square,
                   T gamma, bool rbf, T* out);

/// out += sum_p coef[p] (value of point p + shift) for four points at once (interleaved): the columns are read once for
/// all of them.
void add_blocks(const double* columns, std::size_t blocks, std::size_t d, const double* points, const double* squares,
                const double* own, const double* coef, double gamma, bool rbf, double shift, double* out);

}  // namespace permissible::boundary
