// Gradient descent: all coordinates at once.
#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"
#include "mcboost/state.hpp"

namespace permissible::mcboost {

template <Loss L>
void State::derive_all_block(Block rows, bool newton, double* sizes) {
    if constexpr (L == Loss::gll) {
        std::vector<double> scales(classes_ - 1);
        for (int r = 0; r + 1 < classes_; ++r) scales[r] = coordinate_scale(r);
        const GllRows view{&terms_[rows.begin], rows_, &target[rows.begin], &weight[rows.begin], classes_, newton};
        gll_gradient(view, scales.data(), rows.end - rows.begin, &gradient[rows.begin], &curvature[rows.begin], sizes);
    } else {
        for (std::size_t i = rows.begin; i < rows.end; ++i) derive_all_row<L>(i, newton);
    }
}

template <Loss L>
void State::derive_all_row(std::size_t i, bool newton) {
    const double m = classes_, apart = m / (2.0 * (m - 1.0) * (m - 1.0));  // |y_j - y_k|^2 / 4 over M-1
    const double sum = tails_[i] + terms_[i];
    const int z = target[i];
    double norm = 0, prefix = 0, before = 0, inverse_before = 0, apart_products = 0;
    for (int j = 0; j < classes_; ++j) {  // dL/dS_j, then its product with the codewords, by prefix sums
        double slope = terms_[j * rows_ + i];
        if constexpr (L == Loss::gel || L == Loss::mc) slope = scale_[i] * (slope - (j == z ? sum : 0.0));
        if constexpr (L == Loss::lt) {  // sums over the other classes: the products of a class with itself cancel
            const std::size_t at = j * rows_ + i;
            const double product = terms_[at] * (inverse_before + inverse_tails_[at]);
            slope = product - (before + tails_[at]) * inverse_terms_[at];
            before += terms_[at];
            inverse_before += inverse_terms_[at];
            apart_products += product;
        }
        if (j > 0) {
            const double w = weight[i] * coordinate_scale(j - 1) * (prefix - j * slope);
            gradient[(j - 1) * rows_ + i] = w;
            norm += w * w;
        }
        prefix += slope;
    }
    if (!newton) {
        curvature[i] = std::sqrt(norm);
    } else if constexpr (L == Loss::ls) {
        curvature[i] = weight[i] * sum / (4.0 * (m - 1.0));
    } else if constexpr (L == Loss::lt) {
        curvature[i] = weight[i] * apart * apart_products;
    } else {
        curvature[i] = weight[i] * apart * scale_[i] * sum;
    }
}

void State::derive_all(bool newton) {
    sizes_.clear();
    derived_ = -1;
    gradient.resize(static_cast<std::size_t>(classes_ - 1) * rows_);
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    std::vector<double> largest(static_cast<std::size_t>(count) * classes_, 0.0);
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) derive_all_block<L>(block(b), newton, &largest[b * classes_]);
    });
    if (loss_ != Loss::gll) return;
    sizes_.assign(classes_, 0.0);
    for (std::size_t k = 0; k < largest.size(); ++k) sizes_[k % classes_] = std::max(sizes_[k % classes_], largest[k]);
}

void State::advance_two_all(const uint8_t* side, const std::vector<double>& moves) {
    started_ = begin_after([&](Block rows, Leaders& leaders) {
        add_two(moves.data(), side + rows.begin, rows_, classes_, rows.end - rows.begin, &scores[rows.begin],
                leaders.top, leaders.best);
    });
    begun_ = true;
}

void State::advance_all(double factor) {
    begun_ = false;
    const auto count = static_cast<std::ptrdiff_t>(scores.size());
    for (std::ptrdiff_t i = 0; i < count; ++i) scores[i] += factor * directions[i];
}

void State::directions_from_step(const std::vector<double>& f) {
    directions.assign(rows_ * classes_, 0.0);
    for (int r = 0; r < classes_ - 1; ++r) {
        const double c = coordinate_scale(r);
        for (int j = 0; j <= r + 1; ++j) {
            const double factor = j <= r ? c : -(r + 1) * c;
            for (std::size_t i = 0; i < rows_; ++i) directions[j * rows_ + i] += factor * f[r * rows_ + i];
        }
    }
}

}  // namespace permissible::mcboost
