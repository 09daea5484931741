// One sweep of dual coordinate ascent for the structured SVM of [B], appendix E,
//   min_W  (lambda/2) |W|^2 + sum_i c_i max_k (C_ik + S_k(x_i) - S_{z_i}(x_i)),   S = W x,
// over the rows in a given order. The dual point of a row lies on the simplex a_ik >= 0, sum_k a_ik = c_i, and
// W_k = (1/lambda) sum_i (c_i [z_i = k] - a_ik) x_i; a row's exact step is a projection on its simplex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "boundary/dense.hpp"

namespace permissible::boundary {

struct StructuredRows {
    const double *x, *costs, *caps;  // n x d, n x M, n
    std::size_t n, d, classes;
    double lambda;
};

/// The nearest point to `point` with non-negative parts that sum to `size`.
inline void onto_simplex(std::vector<double>& point, double size, std::vector<double>& ordered) {
    ordered = point;
    std::sort(ordered.begin(), ordered.end(), std::greater<>());
    double sum = -size, level = ordered[0] - size;
    for (std::size_t k = 0; k < ordered.size(); ++k) {
        sum += ordered[k];
        const double next = sum / static_cast<double>(k + 1);
        if (ordered[k] <= next) break;
        level = next;
    }
    for (double& part : point) part = std::max(part - level, 0.0);
}

/// `weights` is M x d and `dual` n x M; both are changed in place.
inline void structured_sweep(const StructuredRows& rows, const int64_t* order, double* weights, double* dual) {
    std::vector<double> point(rows.classes), ordered;
    for (std::size_t place = 0; place < rows.n; ++place) {
        const std::size_t i = static_cast<std::size_t>(order[place]);
        const double* x = rows.x + i * rows.d;
        const double square = dot(x, x, rows.d) / rows.lambda;
        if (!(square > 0) || !(rows.caps[i] > 0)) continue;
        double* own = dual + i * rows.classes;
        for (std::size_t k = 0; k < rows.classes; ++k)
            point[k] = own[k] + (rows.costs[i * rows.classes + k] + dot(x, weights + k * rows.d, rows.d)) / square;
        onto_simplex(point, rows.caps[i], ordered);
        for (std::size_t k = 0; k < rows.classes; ++k) {
            if (point[k] != own[k]) axpy((own[k] - point[k]) / rows.lambda, x, weights + k * rows.d, rows.d);
            own[k] = point[k];
        }
    }
}

}  // namespace permissible::boundary
