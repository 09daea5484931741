// The two descents: one coordinate of a round after the other (Algorithm 1), or all at once along the gradient.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/elementary.hpp"
#include "common/parallel.hpp"
#include "mcboost/state.hpp"

namespace permissible::mcboost {

template <Loss L>
void State::derive_block(Block rows, int coordinate) {
    const int pivot = coordinate + 1;
    const double c = coordinate_scale(coordinate), kc = pivot * c;
    const std::size_t at = static_cast<std::size_t>(pivot) * rows_;
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        Parts row{low_[i], terms_[at + i], tails_[at + i], 0, 0, 0, scale_[i], rate_of(target[i], pivot, c, kc)};
        if constexpr (L == Loss::lt) {
            row.low_inverse = low_inverse_[i];
            row.pivot_inverse = inverse_terms_[at + i];
            row.high_inverse = inverse_tails_[at + i];
        }
        const Slopes s = slopes<L>(row, {c, kc, 1.0, 1.0});
        gradient[i] = weight[i] * s.first;
        curvature[i] = weight[i] * s.second;
    }
}

void State::derive(int coordinate) {
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    if (loss_ == Loss::gll) {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) {
            const Block rows = block(b);
            gll_coordinate(gll_view(rows, coordinate), rows.end - rows.begin, &gradient[rows.begin],
                           &curvature[rows.begin]);
        }
        return;
    }
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) derive_block<L>(block(b), coordinate);
    });
}

GllCoordinate State::gll_view(Block rows, int coordinate) const {
    const int pivot = coordinate + 1;
    const double c = coordinate_scale(coordinate);
    const std::size_t i = rows.begin, at = static_cast<std::size_t>(pivot) * rows_ + i;
    return {&low_[i], &terms_[at], &tails_[at], &target[i], weighted_ ? &weight[i] : nullptr, pivot, c, pivot * c};
}

template <Loss L>
void State::advance_block(Block rows, int coordinate, double factor) {
    const int pivot = coordinate + 1;
    const double c = coordinate_scale(coordinate), kc = pivot * c;
    const std::size_t at = static_cast<std::size_t>(pivot) * rows_;
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        const double t = factor * step[i];
        const double up = vexp(c * t), down = vexp(-kc * t);
        low_[i] = up * low_[i] + down * terms_[at + i];
        terms_[at + i] = t;  // the term is not needed again in this round; finish_round needs the move
        if constexpr (L == Loss::gel || L == Loss::mc) {
            const double rate = rate_of(target[i], pivot, c, kc);
            scale_[i] *= rate > 0 ? 1.0 / up : (rate < 0 ? 1.0 / down : 1.0);
        }
        if constexpr (L == Loss::lt) low_inverse_[i] = low_inverse_[i] / up + inverse_terms_[at + i] / down;
    }
}

void State::advance(int coordinate, double factor) {
    begun_ = false;
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) advance_block<L>(block(b), coordinate, factor);
    });
}

// Class j is the pivot of coordinate j-1, and below the pivots of coordinate j and later ones: S_j moves by
// sum_{r >= j} c_r f_r - j c_{j-1} f_{j-1}, classes from the last to the first. `advance` left f in place of the
// pivot's term.
void State::finish_by_steps(Block rows, Leaders& leaders) {
    const std::size_t count = rows.end - rows.begin;
    double moved[kChunk];
    std::fill(moved, moved + count, 0.0);
    const double* next = nullptr;
    for (int j = classes_ - 1; j >= 0; --j) {
        const std::size_t at = static_cast<std::size_t>(j) * rows_ + rows.begin;
        const double* own = j > 0 ? &terms_[at] : nullptr;
        add_moves(next, next ? coordinate_scale(j) : 0.0, own, own ? -j * coordinate_scale(j - 1) : 0.0, count, moved,
                  &scores[at]);
        next = own;
    }
    find_leaders(rows, leaders);
}

void State::finish_round() {
    started_ = begin_after([&](Block rows, Leaders& leaders) { finish_by_steps(rows, leaders); });
    begun_ = true;
}

// -- gradient descent: all coordinates at once

template <Loss L>
void State::derive_all_block(Block rows) {
    if constexpr (L == Loss::gll) {
        std::vector<double> scales(classes_ - 1);
        for (int r = 0; r + 1 < classes_; ++r) scales[r] = coordinate_scale(r);
        const GllRows view{&terms_[rows.begin], rows_, &target[rows.begin], &weight[rows.begin], classes_};
        gll_gradient(view, scales.data(), rows.end - rows.begin, &gradient[rows.begin], &curvature[rows.begin]);
    } else {
        for (std::size_t i = rows.begin; i < rows.end; ++i) derive_all_row<L>(i);
    }
}

template <Loss L>
void State::derive_all_row(std::size_t i) {
    const double sum = tails_[i] + terms_[i];
    const int z = target[i];
    double norm = 0, prefix = 0, before = 0, inverse_before = 0;
    for (int j = 0; j < classes_; ++j) {  // dL/dS_j, then its product with the codewords, by prefix sums
        double slope = terms_[j * rows_ + i];
        if constexpr (L == Loss::gel || L == Loss::mc) slope = scale_[i] * (slope - (j == z ? sum : 0.0));
        if constexpr (L == Loss::lt) {  // sums over the other classes: the products of a class with itself cancel
            const std::size_t at = j * rows_ + i;
            const double product = terms_[at] * (inverse_before + inverse_tails_[at]);
            slope = product - (before + tails_[at]) * inverse_terms_[at];
            before += terms_[at];
            inverse_before += inverse_terms_[at];
        }
        if (j > 0) {
            const double w = weight[i] * coordinate_scale(j - 1) * (prefix - j * slope);
            gradient[(j - 1) * rows_ + i] = w;
            norm += w * w;
        }
        prefix += slope;
    }
    curvature[i] = std::sqrt(norm);
}

void State::derive_all() {
    gradient.resize(static_cast<std::size_t>(classes_ - 1) * rows_);
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) derive_all_block<L>(block(b));
    });
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

// -- slopes of the surrogate along a step, and the leverage of the step

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

LineSearch State::search_within(int coordinate, double reach, double penalty) const {
    const auto slopes = [&](double alpha) {
        const SlopeSums sums = slopes_at(coordinate, alpha);
        return Slopes{sums.first.value(), sums.second.value()};
    };
    return minimise(slopes, reach, penalty);
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
