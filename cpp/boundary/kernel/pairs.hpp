// Vector loops of the pair solver (pairs.cpp): move the scores, find the steepest direction, find its best partner.
#pragma once

#include <cstddef>

namespace permissible::boundary {

struct Steepest {
    double up = -1e300, down = 1e300;  // m = max U - f, M = min L - f
    std::size_t row = 0;               // where m is attained
};

/// f += scale * (first - second) (second may be nullptr), then m, M over all rows. U and L come in the precision of the
/// rows: they only rank here.
Steepest move_scores(double scale, const float* first, const float* second, const float* up, const float* down,
                     double* f, std::size_t n);
Steepest move_scores(double scale, const double* first, const double* second, const double* up, const double* down,
                     double* f, std::size_t n);
/// argmax over j of (m - L_j + f_j)_+^2 / (K_ii + K_jj - 2 K_ij); n where no j gains. `diagonals` is nullptr where all
/// are K_ii.
std::size_t best_partner(double m, double diagonal, const float* row, const double* diagonals, const float* down,
                         const double* f, std::size_t n);
std::size_t best_partner(double m, double diagonal, const double* row, const double* diagonals, const double* down,
                         const double* f, std::size_t n);
/// argmax over i of max((U_i - f_i)_+, (f_i - L_i)_+)^2 / K_ii: the best single row where no intercept ties rows
/// together.
std::size_t best_single(const double* diagonals, const double* up, const double* down, const double* f, std::size_t n);

}  // namespace permissible::boundary
