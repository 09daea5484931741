// Vectorised block functions of the boundary solvers (blocks.cpp). Each sums in one fixed pattern, so that a result
// depends neither on the number of threads nor on where a row lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boundary/segments.hpp"

namespace permissible::boundary {

/// Rows whose partial sums form one chunk; chunks are merged in order, for any number of threads.
inline constexpr std::size_t kChunk = 2048;

double dot(const double* x, const double* w, std::size_t d);
double dot(const float* x, const double* w, std::size_t d);
void axpy(double a, const double* x, double* out, std::size_t d);
void axpy(double a, const float* x, double* out, std::size_t d);

/// out[r] = sign * (x_r . w + b) for the rows x + index[r] * d (index == nullptr: consecutive rows).
void margins(const double* x, const int64_t* index, std::size_t m, std::size_t d, const double* w, double b,
             double sign, double* out);
void margins(const float* x, const int64_t* index, std::size_t m, std::size_t d, const double* w, double b, double sign,
             double* out);

/// Smoothed dual response at margins z + step * u: tau_k = clip(center_k + (h_k - z) / (2 e), 0, 1), t = sum D_k tau_k.
/// center is K x stride (nullptr: 1/2), curvature may be nullptr.
void respond(const Segments& loss, std::size_t m, const double* z, const double* u, double step, const double* center,
             std::size_t stride, double inverse_width, double* t, double* curvature);
/// center_k <- tau_k, the multiplier step.
void recenter(const Segments& loss, std::size_t m, const double* z, double* center, std::size_t stride,
              double inverse_width);
/// gap[i] = phi(z) - g(t) + t z >= 0 (Fenchel), loss[i] = phi(z).
void fenchel(const Segments& loss, std::size_t m, const double* z, const double* t, double* gap, double* value);

double weighted_sum(const double* c, const double* v, std::size_t m);
double weighted_sum(const double* c, const double* v, const double* u, std::size_t m);

/// H += sign * sum_r tile_r tile_r' on the upper triangle from column `first` on; tile and H have rows of `stride`
/// doubles, a multiple of 8.
void rank_update(const double* tile, std::size_t rows, std::size_t stride, std::size_t first, double sign, double* H);

}  // namespace permissible::boundary
