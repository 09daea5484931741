// Slopes of the surrogate along a step, one coordinate or all of them, and the leverage of the step.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/elementary.hpp"
#include "common/parallel.hpp"
#include "mcboost/state.hpp"

namespace permissible::mcboost {

template <Loss L>
void State::slopes_block(Block rows, int coordinate, double alpha, SlopeSums& sums) const {
    const int pivot = coordinate + 1;
    const double c = coordinate_scale(coordinate), kc = pivot * c;
    const std::size_t at = static_cast<std::size_t>(pivot) * rows_, count = rows.end - rows.begin;
    double up[kChunk], down[kChunk];
    for (std::size_t i = 0; i < count; ++i) up[i] = vexp(c * alpha * step[rows.begin + i]);
    for (std::size_t i = 0; i < count; ++i) down[i] = vexp(-kc * alpha * step[rows.begin + i]);
    for (std::size_t b = 0; b < count; ++b) {
        const std::size_t i = rows.begin + b;
        Parts row{low_[i], terms_[at + i], tails_[at + i], 0, 0, 0, scale_[i], rate_of(target[i], pivot, c, kc)};
        if constexpr (L == Loss::lt) {
            row.low_inverse = low_inverse_[i];
            row.pivot_inverse = inverse_terms_[at + i];
            row.high_inverse = inverse_tails_[at + i];
        }
        const Slopes s = slopes<L>(row, {c, kc, up[b], down[b]});
        sums.first.add(weight[i] * step[i] * s.first);
        sums.second.add(weight[i] * step[i] * step[i] * s.second);
    }
}

// L_t of one row: pairs of different classes, since the products of a class with itself do not move.
Slopes State::pair_slopes(std::size_t i, double alpha, std::vector<double>& factors) const {
    Slopes found{0, 0};
    for (int j = 0; j < classes_; ++j) factors[j] = vexp(alpha * directions[j * rows_ + i]);
    for (int j = 0; j < classes_; ++j) {
        const double term = terms_[j * rows_ + i] * factors[j];
        if (term == 0) continue;
        for (int k = 0; k < classes_; ++k) {
            const double move = directions[j * rows_ + i] - directions[k * rows_ + i];
            const double product = k == j ? 0.0 : term * (inverse_terms_[k * rows_ + i] / factors[k]) * move;
            found.first += product;
            found.second += product * move;
        }
    }
    return found;
}

template <Loss L>
void State::slopes_all_block(Block rows, double alpha, SlopeSums& sums) const {
    std::vector<double> factors(classes_);
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        if constexpr (L == Loss::lt) {
            const Slopes found = pair_slopes(i, alpha, factors);
            sums.first.add(weight[i] * found.first);
            sums.second.add(weight[i] * found.second);
            continue;
        }
        const double true_move = directions[target[i] * rows_ + i];
        double n0 = 0, n1 = 0, n2 = 0;
        for (int j = 0; j < classes_; ++j) {
            const double score_move = directions[j * rows_ + i], e = vexp(alpha * score_move);
            const double move = L == Loss::gll ? score_move - true_move : score_move, term = terms_[j * rows_ + i] * e;
            n0 += term;
            n1 += term * move;
            n2 += term * move * move;
        }
        double first = n1, second = n2;
        if constexpr (L == Loss::gll) {
            first = n1 / n0;
            second = n2 / n0 - (n1 / n0) * (n1 / n0);
        } else if constexpr (L == Loss::gel || L == Loss::mc) {
            const double s = scale_[i] * vexp(-alpha * true_move);
            first = s * (n1 - true_move * n0);
            second = s * (n2 - 2.0 * true_move * n1 + true_move * true_move * n0);
        }
        sums.first.add(weight[i] * first);
        sums.second.add(weight[i] * second);
    }
}

SlopeSums State::slopes_at(int coordinate, double alpha) const {
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    SlopeSums sums;
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel num_threads(threads_)
        {
            SlopeSums own;
#pragma omp for schedule(static)
            for (std::ptrdiff_t b = 0; b < count; ++b) {
                if (coordinate < 0)
                    slopes_all_block<L>(block(b), alpha, own);
                else
                    slopes_block<L>(block(b), coordinate, alpha, own);
            }
#pragma omp critical(permissible_mcboost_slopes)
            {
                sums.first.merge(own.first);
                sums.second.merge(own.second);
            }
        }
    });
    return sums;
}

LineSearch State::search_within(int coordinate, double reach) const {
    const auto slopes = [&](double alpha) {
        const SlopeSums sums = slopes_at(coordinate, alpha);
        return Slopes{sums.first.value(), sums.second.value()};
    };
    return minimise(slopes, reach);
}

LineSearch State::search(int coordinate) {
    double largest = 0;
    for (const double value : step) largest = std::max(largest, std::abs(value));
    return search_within(coordinate, largest * coordinate_scale(coordinate) * (coordinate + 1));
}

LineSearch State::search_all() {
    double largest = 0;
    for (const double value : directions) largest = std::max(largest, std::abs(value));
    return search_within(-1, largest);
}

}  // namespace permissible::mcboost
