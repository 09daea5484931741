// Passes of a round: see state.hpp for what is kept and losses.hpp for the mathematics.
#include "mcboost/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.hpp"
#include "mcboost/passes.hpp"
#include "mcboost/vexp.hpp"

namespace permissible::mcboost {

State::State(std::size_t rows, int classes, Loss loss, int threads)
    : rows_(rows),
      classes_(classes),
      loss_(loss),
      threads_(resolve_threads(threads, rows * static_cast<std::size_t>(classes))) {
    const std::size_t cells = rows * static_cast<std::size_t>(classes);
    scores.assign(cells, 0.0);
    target.assign(rows, 0);
    weight.assign(rows, 1.0);
    step.assign(rows, 0.0);
    gradient.assign(rows, 0.0);
    curvature.assign(rows, 0.0);
    terms_.assign(cells, 0.0);
    tails_.assign(cells, 0.0);
    low_.assign(rows, 0.0);
    scale_.assign(rows, 1.0);
    if (loss == Loss::lt) {
        inverse_terms_.assign(cells, 0.0);
        inverse_tails_.assign(cells, 0.0);
        low_inverse_.assign(rows, 0.0);
    }
}

State::Block State::block(std::size_t index) const {
    return {index * kChunk, std::min(rows_, (index + 1) * kChunk)};
}

// Half of the Helmert entry of the classes below the pivot: S = Y f / 2, Y = sqrt(M/(M-1)) U (section 10 of the notes
// on [B]).
double State::coordinate_scale(int coordinate) const {
    const double m = classes_, k = coordinate + 1;
    return 0.5 * std::sqrt(m / (m - 1.0)) / std::sqrt(k * (k + 1.0));
}

template <Loss L>
void State::begin_block(Block rows, RoundSums& sums) {
    const std::size_t count = rows.end - rows.begin;
    double top[kChunk], total[kChunk], inverse_total[kChunk], own[kChunk], value[kChunk];
    double best[kChunk];
    const int32_t* classes = &target[rows.begin];
    largest_scores(&scores[rows.begin], rows_, classes_, count, top, best);
    std::fill(total, total + count, 0.0);
    std::fill(inverse_total, inverse_total + count, 0.0);
    for (int j = classes_ - 1; j >= 0; --j) {
        const std::size_t at = j * rows_ + rows.begin;
        // L_s is not a function of differences, so its exponents are not shifted; clipped so that nothing overflows.
        raised_scores(&scores[at], L == Loss::ls ? nullptr : top, count, kExponentLimit, &terms_[at]);
        if constexpr (L == Loss::lt) {
            for (std::size_t i = 0; i < count; ++i) {
                inverse_tails_[at + i] = inverse_total[i];
                inverse_terms_[at + i] = 1.0 / terms_[at + i];
                inverse_total[i] += inverse_terms_[at + i];
            }
        }
        pick_own(&scores[at], classes, j, count, own);
        if (uniform_)
            weigh_by_row(nullptr, count, &terms_[at], &tails_[at], total);
        else if (shared_costs)
            weigh_by_class(&factors_[j], classes, classes_, count, &terms_[at], &tails_[at], total);
        else
            weigh_by_row(&factors_[at], count, &terms_[at], &tails_[at], total);
    }
    std::copy(&terms_[rows.begin], &terms_[rows.begin] + count, &low_[rows.begin]);
    if constexpr (L == Loss::lt)
        std::copy(&inverse_terms_[rows.begin], &inverse_terms_[rows.begin] + count, &low_inverse_[rows.begin]);
    if constexpr (L == Loss::gll) logarithms(total, count, value);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = rows.begin + i;
        const double below = std::max(own[i] - top[i], -kExponentLimit);
        if constexpr (L == Loss::gll) {
            value[i] -= below;
        } else if constexpr (L == Loss::ls) {
            value[i] = total[i];
        } else if constexpr (L == Loss::lt) {
            value[i] = total[i] * inverse_total[i];
        } else {
            scale_[row] = vexp(-below);
            value[i] = total[i] * scale_[row] + (L == Loss::mc ? 1.0 : 0.0);
        }
        sums.surrogate.add(weight[row] * value[i]);
        const auto chosen = static_cast<int>(best[i]);
        if (chosen != target[row]) {
            sums.cost.add(weight[row] * cost_of(row, chosen));
            sums.error.add(weight[row]);
        }
    }
}

void State::prepare() {
    factors_ = costs;
    const double own = loss_ == Loss::gll ? 1.0 : 0.0;  // log(1 + N/E_z): the 1 is the true class inside the sum
    if (loss_ == Loss::mc) std::fill(factors_.begin(), factors_.end(), 1.0);
    if (shared_costs)
        for (int j = 0; j < classes_; ++j) factors_[static_cast<std::size_t>(j) * classes_ + j] = own;
    else
        for (std::size_t i = 0; i < rows_; ++i) factors_[static_cast<std::size_t>(target[i]) * rows_ + i] = own;
    uniform_ = std::all_of(factors_.begin(), factors_.end(), [](double factor) { return factor == 1.0; });
}

RoundSums State::begin_round_sums() {
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    RoundSums sums;
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel num_threads(threads_)
        {
            RoundSums own;
#pragma omp for schedule(static)
            for (std::ptrdiff_t b = 0; b < count; ++b) begin_block<L>(block(b), own);
#pragma omp critical(permissible_mcboost_sums)
            {
                sums.surrogate.merge(own.surrogate);
                sums.cost.merge(own.cost);
                sums.error.merge(own.error);
            }
        }
    });
    return sums;
}

RoundStart State::begin_round() {
    const RoundSums sums = begin_round_sums();
    return {sums.surrogate.value(), sums.cost.value(), sums.error.value()};
}

namespace {

double rate_of(int z, int pivot, double c, double kc) {
    return z < pivot ? c : (z == pivot ? -kc : 0.0);
}

}  // namespace

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
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) derive_block<L>(block(b), coordinate);
    });
}

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

// Newton inside a bracket that bisects when Newton leaves it. The derivative is increasing in alpha (the loss is
// convex).
LineSearch minimise(const std::function<Slopes(double)>& slopes_at, double largest_move) {
    int evaluations = 1;
    Slopes at = slopes_at(0.0);
    if (!(largest_move > 0) || at.first == 0) return {0.0, false, evaluations};
    const double sign = at.first < 0 ? 1.0 : -1.0, limit = kLargestMove / largest_move;
    const double flat = 1e-13 * std::abs(at.first), nearly_flat = 1e-8 * std::abs(at.first), bend = 1e-6 * at.second;
    double inner = 0.0, outer = limit, alpha = 0.0;  // on the half-line of descent, alpha = sign * u
    bool bracketed = false;
    double u = at.second > 0 ? std::min(std::abs(at.first) / at.second, limit) : 1.0;
    if (!(u > 0)) u = limit;
    for (; evaluations < 100; ++evaluations) {
        at = slopes_at(sign * u);
        const double slope = sign * at.first;
        alpha = u;
        if (std::abs(slope) <= flat) break;
        // Nearly flat and no longer bending, with the minimum still ahead: the rows are separable along this direction.
        if (!bracketed && slope < 0 && -slope <= nearly_flat && at.second <= bend) return {sign * u, true, evaluations};
        (slope < 0 ? inner : outer) = u;
        bracketed = bracketed || slope > 0;
        if (slope < 0 && u >= limit) return {sign * limit, true, evaluations};
        double next = at.second > 0 ? u - slope / at.second : std::numeric_limits<double>::infinity();
        if (!bracketed) {
            next = std::min(std::max(next, 2.0 * u), limit);
            if (at.second > 0 && u - slope / at.second < 2.0 * u) next = u - slope / at.second;
        } else if (!(next > inner && next < outer)) {
            next = 0.5 * (inner + outer);
        }
        if (std::abs(next - u) <= 1e-12 * std::max(u, 1e-3)) {
            alpha = next;
            break;
        }
        u = next;
    }
    return {sign * alpha, false, evaluations};
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

LineSearch State::search(int coordinate) {
    double largest = 0;
    for (const double value : step) largest = std::max(largest, std::abs(value));
    const auto slopes = [&](double alpha) {
        const SlopeSums sums = slopes_at(coordinate, alpha);
        return Slopes{sums.first.value(), sums.second.value()};
    };
    return minimise(slopes, largest * coordinate_scale(coordinate) * (coordinate + 1));
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
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) advance_block<L>(block(b), coordinate, factor);
    });
}

// Two values, two factors: no exponential per row.
template <Loss L>
void State::advance_two_block(Block rows, int coordinate, const uint8_t* side, const double values[2], double rate) {
    const int pivot = coordinate + 1;
    const double c = coordinate_scale(coordinate), kc = pivot * c;
    const double t[2] = {rate * values[0], rate * values[1]};
    const double up[2] = {vexp(c * t[0]), vexp(c * t[1])}, down[2] = {vexp(-kc * t[0]), vexp(-kc * t[1])};
    double* terms = &terms_[static_cast<std::size_t>(pivot) * rows_];
    if constexpr (L == Loss::gll || L == Loss::ls) {
        const TwoMoves moves{{up[0], up[1]}, {down[0], down[1]}, {t[0], t[1]}};
        advance_low(moves, side + rows.begin, rows.end - rows.begin, &low_[rows.begin], &terms[rows.begin]);
        return;
    }
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        const int s = side[i];
        low_[i] = up[s] * low_[i] + down[s] * terms[i];
        terms[i] = t[s];
        if constexpr (L == Loss::gel || L == Loss::mc) {
            const double rate_z = rate_of(target[i], pivot, c, kc);
            scale_[i] *= rate_z > 0 ? 1.0 / up[s] : (rate_z < 0 ? 1.0 / down[s] : 1.0);
        }
        if constexpr (L == Loss::lt)
            low_inverse_[i] =
                low_inverse_[i] / up[s] + inverse_terms_[static_cast<std::size_t>(pivot) * rows_ + i] / down[s];
    }
}

void State::advance_two(int coordinate, const uint8_t* side, const double values[2], double rate) {
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) advance_two_block<L>(block(b), coordinate, side, values, rate);
    });
}

void State::finish_round() {
    const auto count = static_cast<std::ptrdiff_t>(blocks());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::ptrdiff_t b = 0; b < count; ++b) {
        const Block rows = block(b);
        double moved[kChunk];
        std::fill(moved, moved + (rows.end - rows.begin), 0.0);
        for (int j = classes_ - 1; j >= 0; --j) {
            const double own =
                j > 0 ? -j * coordinate_scale(j - 1) : 0.0;  // class j is the pivot of coordinate j-1 ...
            const double below =
                j < classes_ - 1 ? coordinate_scale(j) : 0.0;  // ... and below the pivot of j and later
            for (std::size_t i = rows.begin; i < rows.end; ++i) {
                if (j < classes_ - 1) moved[i - rows.begin] += below * terms_[(j + 1) * rows_ + i];
                scores[j * rows_ + i] += moved[i - rows.begin] + (j > 0 ? own * terms_[j * rows_ + i] : 0.0);
            }
        }
    }
}

// ---- gradient descent: all coordinates at once -------------------------------------------------------------------

template <Loss L>
void State::derive_all_block(Block rows, bool newton) {
    if constexpr (L == Loss::gll) {
        std::vector<double> scales(classes_ - 1);
        for (int r = 0; r + 1 < classes_; ++r) scales[r] = coordinate_scale(r);
        const GllRows view{&terms_[rows.begin], rows_, &target[rows.begin], &weight[rows.begin], classes_, newton};
        gll_gradient(view, scales.data(), rows.end - rows.begin, &gradient[rows.begin], &curvature[rows.begin]);
        return;
    }
    const double m = classes_, apart = m / (2.0 * (m - 1.0) * (m - 1.0));  // |y_j - y_k|^2 / 4 over M-1
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        const double sum = tails_[i] + terms_[i];
        const int z = target[i];
        double norm = 0, prefix = 0;
        double inverse_sum = 0, others = 0;
        if constexpr (L == Loss::gll)
            for (int j = 0; j < classes_; ++j) others += j == z ? 0.0 : terms_[j * rows_ + i];
        if constexpr (L == Loss::lt) inverse_sum = inverse_tails_[i] + inverse_terms_[i];
        for (int j = 0; j < classes_; ++j) {  // dL/dS_j, then its product with the codewords, by prefix sums
            double slope = terms_[j * rows_ + i];
            if constexpr (L == Loss::gll) slope = (j == z ? -others : slope) / sum;
            if constexpr (L == Loss::gel || L == Loss::mc) slope = scale_[i] * (slope - (j == z ? sum : 0.0));
            if constexpr (L == Loss::lt) slope = slope * inverse_sum - sum * inverse_terms_[j * rows_ + i];
            if (j > 0) {
                const double w = weight[i] * coordinate_scale(j - 1) * (prefix - j * slope);
                gradient[(j - 1) * rows_ + i] = w;
                norm += w * w;
            }
            prefix += slope;
        }
        if (!newton) {
            curvature[i] = std::sqrt(norm);
        } else if constexpr (L == Loss::gll) {
            double squares = 0;  // 1 - sum p^2, the Gini impurity of the row's (tilted) posterior
            for (int j = 0; j < classes_; ++j) squares += terms_[j * rows_ + i] * terms_[j * rows_ + i];
            curvature[i] = weight[i] * 0.5 * apart * std::max(0.0, 1.0 - squares / (sum * sum));
        } else if constexpr (L == Loss::ls) {
            curvature[i] = weight[i] * sum / (4.0 * (m - 1.0));
        } else if constexpr (L == Loss::lt) {
            double same = 0;
            for (int j = 0; j < classes_; ++j) same += terms_[j * rows_ + i] * inverse_terms_[j * rows_ + i];
            curvature[i] = weight[i] * apart * std::max(0.0, sum * inverse_sum - same);
        } else {
            curvature[i] = weight[i] * apart * scale_[i] * sum;
        }
    }
}

void State::derive_all(bool newton) {
    gradient.resize(static_cast<std::size_t>(classes_ - 1) * rows_);
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) derive_all_block<L>(block(b), newton);
    });
}

template <Loss L>
void State::slopes_all_block(Block rows, double alpha, SlopeSums& sums) const {
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        const double true_move = directions[target[i] * rows_ + i];
        double n0 = 0, n1 = 0, n2 = 0, d0 = 0, d1 = 0, d2 = 0;
        for (int j = 0; j < classes_; ++j) {
            const double score_move = directions[j * rows_ + i], e = vexp(alpha * score_move);
            const double move = L == Loss::gll ? score_move - true_move : score_move, term = terms_[j * rows_ + i] * e;
            n0 += term;
            n1 += term * move;
            n2 += term * move * move;
            if constexpr (L == Loss::lt) {
                const double inverse = inverse_terms_[j * rows_ + i] / e;
                d0 += inverse;
                d1 -= inverse * move;
                d2 += inverse * move * move;
            }
        }
        double first = n1, second = n2;
        if constexpr (L == Loss::gll) {
            first = n1 / n0;
            second = n2 / n0 - (n1 / n0) * (n1 / n0);
        } else if constexpr (L == Loss::gel || L == Loss::mc) {
            const double s = scale_[i] * vexp(-alpha * true_move);
            first = s * (n1 - true_move * n0);
            second = s * (n2 - 2.0 * true_move * n1 + true_move * true_move * n0);
        } else if constexpr (L == Loss::lt) {
            first = n1 * d0 + n0 * d1;
            second = n2 * d0 + 2.0 * n1 * d1 + n0 * d2;
        }
        sums.first.add(weight[i] * first);
        sums.second.add(weight[i] * second);
    }
}

LineSearch State::search_all() {
    double largest = 0;
    for (const double value : directions) largest = std::max(largest, std::abs(value));
    const auto slopes = [&](double alpha) {
        const SlopeSums sums = slopes_at(-1, alpha);
        return Slopes{sums.first.value(), sums.second.value()};
    };
    return minimise(slopes, largest);
}

void State::advance_two_all(const uint8_t* side, const std::vector<double>& moves) {
    const auto count = static_cast<std::ptrdiff_t>(blocks());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::ptrdiff_t b = 0; b < count; ++b) {
        const Block rows = block(b);
        add_two(moves.data(), side + rows.begin, rows_, classes_, rows.end - rows.begin, &scores[rows.begin]);
    }
}

void State::advance_all(double factor) {
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

template <typename Visit>
void State::each_field(Visit&& visit) const {
    for (const auto* field :
         {&scores, &terms_, &tails_, &low_, &scale_, &inverse_terms_, &inverse_tails_, &low_inverse_})
        visit(*field);
}

std::size_t State::fields() const {
    std::size_t total = 0;
    each_field([&](const std::vector<double>& field) { total += field.size(); });
    return total / std::max<std::size_t>(rows_, 1);
}

void State::save(double* out) const {
    each_field([&](const std::vector<double>& field) { out = std::copy(field.begin(), field.end(), out); });
}

void State::restore(const double* in) {
    each_field([&](const std::vector<double>& field) {
        std::copy(in, in + field.size(), const_cast<double*>(field.data()));
        in += field.size();
    });
}

}  // namespace permissible::mcboost
