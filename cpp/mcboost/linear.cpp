// Five sums per attribute decide it: sum |w|, |w|x, |w|x^2, w, wx, taken in blocks of rows in a fixed order.
#include "mcboost/linear.hpp"

#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

// Sums of one block, laid out [|w|x (d) | |w|x^2 (d) | w_0 x (d) | w_1 x (d) ... | |w| | w_0 | w_1 ...].
PERMISSIBLE_CLONES void block_sums(const double* x, const double* gradient, const double* norm, const double* share,
                                   int d, int outputs, std::size_t rows, std::size_t begin, std::size_t end,
                                   double* sums) {
    double* first = sums;
    double* second = sums + d;
    double* cross = sums + 2 * d;
    double* totals = sums + (2 + outputs) * d;
    for (std::size_t i = begin; i < end; ++i) {
        const double keep = share ? share[i] : 1.0;
        const double w = norm ? keep * norm[i] : keep * std::abs(gradient[i]);
        if (w == 0) continue;
        const double* row = x + i * d;
        for (int c = 0; c < d; ++c) {
            const double weighted = w * row[c];
            first[c] += weighted;
            second[c] += weighted * row[c];
        }
        totals[0] += w;
        for (int r = 0; r < outputs; ++r) {
            const double g = keep * gradient[r * rows + i];
            double* out = cross + r * d;
            for (int c = 0; c < d; ++c) out[c] += g * row[c];
            totals[1 + r] += g;
        }
    }
}

}  // namespace

Affine fit_affine(const State& state, const Attributes& attributes, int outputs) {
    const int d = attributes.count;
    const std::size_t n = state.rows(), width = (2 + outputs) * d + 1 + outputs;
    // Few large blocks: each holds a full set of sums, which are added in the order of the blocks.
    const std::size_t chunk = std::max<std::size_t>(4096, (n + 255) / 256);
    const auto blocks = static_cast<std::ptrdiff_t>((n + chunk - 1) / chunk);
    std::vector<double> partial(static_cast<std::size_t>(blocks) * width, 0.0);
    const double* norm = outputs > 1 ? state.curvature.data() : nullptr;
#pragma omp parallel for num_threads(state.threads()) schedule(static)
    for (std::ptrdiff_t b = 0; b < blocks; ++b) {
        const std::size_t begin = b * chunk, end = std::min(n, begin + chunk);
        block_sums(attributes.values, state.gradient.data(), norm, attributes.share, d, outputs, n, begin, end,
                   &partial[b * width]);
    }
    for (std::ptrdiff_t b = 1; b < blocks; ++b)
        for (std::size_t k = 0; k < width; ++k) partial[k] += partial[b * width + k];
    const double* first = partial.data();
    const double* second = first + d;
    const double* cross = first + 2 * d;
    const double* totals = first + (2 + outputs) * d;
    Affine best{-1, std::vector<double>(outputs, 0.0), std::vector<double>(outputs, 0.0), 0.0};
    const double mass = totals[0];
    if (!(mass > 0)) return best;
    double largest = 0, level = 0;
    for (int r = 0; r < outputs; ++r) {
        best.intercept[r] = -totals[1 + r] / mass;
        level += totals[1 + r] * totals[1 + r] / mass;
    }
    for (int c = 0; c < d; ++c) {
        if (attributes.allowed && !attributes.allowed[c]) continue;
        const double spread = second[c] - first[c] * first[c] / mass;
        if (!(spread > 1e-10 * (second[c] + 1e-300))) continue;  // constant where the weight lies
        double gain = 0;
        for (int r = 0; r < outputs; ++r) {
            const double covariance = cross[r * d + c] - first[c] * totals[1 + r] / mass;
            gain += covariance * covariance / spread;
        }
        if (gain > largest * (1 + 1e-10)) {  // the first of those that are equal but for rounding
            largest = gain;
            best.column = c;
        }
    }
    best.explained = (level + largest) / mass;
    if (best.column < 0) return best;
    const int c = best.column;
    const double spread = second[c] - first[c] * first[c] / mass;
    for (int r = 0; r < outputs; ++r) {
        best.slope[r] = -(cross[r * d + c] - first[c] * totals[1 + r] / mass) / spread;
        best.intercept[r] -= best.slope[r] * first[c] / mass;
    }
    return best;
}

}  // namespace permissible::mcboost
