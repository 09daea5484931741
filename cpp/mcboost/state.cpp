// What a State holds and how a round begins: see state.hpp for what is kept and losses/multiclass.hpp for the
// mathematics.
#include "mcboost/state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "common/elementary.hpp"
#include "common/parallel.hpp"

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

State::Block State::block(std::size_t index) const { return {index * kChunk, std::min(rows_, (index + 1) * kChunk)}; }

// Half of the Helmert entry of the classes below the pivot: S = Y f / 2, Y = sqrt(M/(M-1)) U (section 10 of the notes
// on [B]).
double State::coordinate_scale(int coordinate) const {
    const double m = classes_, k = coordinate + 1;
    return 0.5 * std::sqrt(m / (m - 1.0)) / std::sqrt(k * (k + 1.0));
}

template <Loss L>
void State::begin_block(Block rows, const Leaders& leaders, RoundSums& sums) {
    const std::size_t count = rows.end - rows.begin;
    double total[kChunk], inverse_total[kChunk], value[kChunk];
    const double* top = leaders.top;
    const int32_t* classes = &target[rows.begin];
    std::fill(total, total + count, 0.0);
    std::fill(inverse_total, inverse_total + count, 0.0);
    for (int j = classes_ - 1; j >= 0; --j) {
        const std::size_t at = j * rows_ + rows.begin;
        if (L == Loss::gll && uniform_) {
            const bool last = j == classes_ - 1;
            raise_plainly(&scores[at], top, last ? total : &terms_[at + rows_], last ? total : &tails_[at + rows_],
                          kExponentLimit, count, &terms_[at], &tails_[at]);
            continue;
        }
        // L_s is not a function of differences, so its exponents are not shifted; clipped so that nothing overflows.
        raised_scores(&scores[at], L == Loss::ls ? nullptr : top, count, kExponentLimit, &terms_[at]);
        if constexpr (L == Loss::lt) {
            for (std::size_t i = 0; i < count; ++i) {
                inverse_tails_[at + i] = inverse_total[i];
                inverse_terms_[at + i] = 1.0 / terms_[at + i];
                inverse_total[i] += inverse_terms_[at + i];
            }
        }
        if (uniform_)
            multiply_by_row(nullptr, count, &terms_[at], &tails_[at], total);
        else if (shared_costs)
            multiply_by_class(&factors_[j], classes, classes_, count, &terms_[at], &tails_[at], total);
        else
            multiply_by_row(&factors_[at], count, &terms_[at], &tails_[at], total);
    }
    if (L == Loss::gll && uniform_)
        std::transform(&terms_[rows.begin], &terms_[rows.begin] + count, &tails_[rows.begin], total, std::plus<>());
    std::copy(&terms_[rows.begin], &terms_[rows.begin] + count, &low_[rows.begin]);
    if constexpr (L == Loss::lt)
        std::copy(&inverse_terms_[rows.begin], &inverse_terms_[rows.begin] + count, &low_inverse_[rows.begin]);
    if constexpr (L == Loss::gll) logarithms(total, count, value);
    for (std::size_t i = 0; i < count; ++i) {
        const double own = scores[classes[i] * rows_ + rows.begin + i];
        const double below = std::max(own - top[i], -kExponentLimit);
        if constexpr (L == Loss::gll) {
            value[i] -= below;
        } else if constexpr (L == Loss::ls) {
            value[i] = total[i];
        } else if constexpr (L == Loss::lt) {
            value[i] = total[i] * inverse_total[i];
        } else {
            scale_[rows.begin + i] = vexp(-below);
            value[i] = total[i] * scale_[rows.begin + i] + (L == Loss::mc ? 1.0 : 0.0);
        }
    }
    add_values<L>(rows, value, sums.surrogate);
    add_choices(rows, leaders.best, sums);
}

// Where all weights are 1 the values of GLL, which are bounded, add as integers: the sum is the same.
template <Loss L>
void State::add_values(Block rows, double* value, Accumulator& sum) const {
    const std::size_t count = rows.end - rows.begin;
    if constexpr (L == Loss::gll) {
        const ValueSums exact = sum_values(count, value);
        if (!weighted_) {
            sum.add(exact.whole);
            sum.add(exact.rest);
            return;
        }
    }
    for (std::size_t i = 0; i < count; ++i) sum.add(weight[rows.begin + i] * value[i]);
}

// Rows of weight 1 with the costs of their class are counted by their class and the chosen one, for `add_confusions`.
void State::add_choices(Block rows, const double* best, RoundSums& sums) const {
    if (!sums.confusions.empty()) {
        for (std::size_t i = rows.begin; i < rows.end; ++i)
            ++sums.confusions[target[i] * classes_ + static_cast<int>(best[i - rows.begin])];
        return;
    }
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        const auto chosen = static_cast<int>(best[i - rows.begin]);
        if (chosen == target[i]) continue;
        sums.cost.add(weight[i] * cost_of(i, chosen));
        sums.error.add(weight[i]);
    }
}

void State::add_confusions(RoundSums& sums) const {
    for (std::size_t cell = 0; cell < sums.confusions.size(); ++cell) {
        if (cell % (classes_ + 1) == 0) continue;
        sums.cost.add(costs[cell], sums.confusions[cell]);
        sums.error.add(1.0, sums.confusions[cell]);
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
    weighted_ = std::any_of(weight.begin(), weight.end(), [](double w) { return w != 1.0; });
    uniform_ = std::all_of(factors_.begin(), factors_.end(), [](double factor) { return factor == 1.0; });
}

void State::find_leaders(Block rows, Leaders& leaders) const {
    largest_scores(&scores[rows.begin], rows_, classes_, rows.end - rows.begin, leaders.top, leaders.best);
}

RoundSums State::begin_after(const std::function<void(Block, Leaders&)>& move) {
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    constexpr int kFewClasses = 64;
    const bool counted = !weighted_ && shared_costs && classes_ <= kFewClasses;
    RoundSums sums;
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel num_threads(threads_)
        {
            RoundSums own;
            if (counted) own.confusions.assign(static_cast<std::size_t>(classes_) * classes_, 0);
#pragma omp for schedule(static)
            for (std::ptrdiff_t b = 0; b < count; ++b) {
                Leaders leaders;
                move(block(b), leaders);
                begin_block<L>(block(b), leaders, own);
            }
            add_confusions(own);
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

RoundSums State::begin_round_sums() {
    if (!begun_) started_ = begin_after([&](Block rows, Leaders& leaders) { find_leaders(rows, leaders); });
    begun_ = false;
    return started_;
}

RoundStart State::begin_round() {
    const RoundSums sums = begin_round_sums();
    return {sums.surrogate.value(), sums.cost.value(), sums.error.value()};
}

template <typename Visit>
void State::each_field(Visit&& visit) const {
    for (const auto* field :
         {&scores, &terms_, &tails_, &low_, &scale_, &inverse_terms_, &inverse_tails_, &low_inverse_})
        visit(*field);
}

std::size_t State::fields() const {
    std::size_t total = 0;
    each_field([&](const LargeVector<double>& field) { total += field.size(); });
    return total / std::max<std::size_t>(rows_, 1);
}

void State::save(double* out) const {
    each_field([&](const LargeVector<double>& field) { out = std::copy(field.begin(), field.end(), out); });
}

void State::restore(const double* in) {
    each_field([&](const LargeVector<double>& field) {
        std::copy(in, in + field.size(), const_cast<double*>(field.data()));
        in += field.size();
    });
    begun_ = false;
}

}  // namespace permissible::mcboost
