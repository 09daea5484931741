// One coordinate of a round after the other (Algorithm 1): derivatives, steps, and the scores at its end.
#include <algorithm>
#include <limits>
#include <stdexcept>

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

void State::note_sizes(const std::vector<Sizes>& parts) {
    sizes_.assign(2, 0.0);
    for (const auto& part : parts) {
        sizes_[0] = std::max(sizes_[0], part.gradient);
        sizes_[1] = std::max(sizes_[1], part.curvature);
    }
}

void State::derive(int coordinate) {
    if (derived_ == coordinate) return;
    derived_ = -1;
    sizes_.clear();
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    if (loss_ == Loss::gll) {
        std::vector<Sizes> largest(count);
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) {
            const Block rows = block(b);
            largest[b] = gll_coordinate(gll_view(rows, coordinate), rows.end - rows.begin, &gradient[rows.begin],
                                        &curvature[rows.begin]);
        }
        note_sizes(largest);
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
    derived_ = -1;
    two_[coordinate].taken = false;
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) advance_block<L>(block(b), coordinate, factor);
    });
}

uint8_t* State::sides(int coordinate) {
    sides_.resize(static_cast<std::size_t>(classes_ - 1) * rows_);
    return &sides_[static_cast<std::size_t>(coordinate) * rows_];
}

// Two values, two factors: no exponential per row, and the move itself stays in one byte until the end of the round.
template <Loss L>
void State::advance_two_block(Block rows, int coordinate) {
    const int pivot = coordinate + 1;
    const double c = coordinate_scale(coordinate), kc = pivot * c;
    const TwoMoves& by = two_[coordinate].factors;
    const uint8_t* side = &sides_[static_cast<std::size_t>(coordinate) * rows_];
    const std::size_t at = static_cast<std::size_t>(pivot) * rows_;
    advance_low(by, side + rows.begin, rows.end - rows.begin, &low_[rows.begin], &terms_[at + rows.begin]);
    if constexpr (L == Loss::gel || L == Loss::mc)
        for (std::size_t i = rows.begin; i < rows.end; ++i) {
            const double rate_z = rate_of(target[i], pivot, c, kc);
            scale_[i] *= rate_z > 0 ? 1.0 / by.up[side[i]] : (rate_z < 0 ? 1.0 / by.down[side[i]] : 1.0);
        }
    if constexpr (L == Loss::lt)
        for (std::size_t i = rows.begin; i < rows.end; ++i)
            low_inverse_[i] = low_inverse_[i] / by.up[side[i]] + inverse_terms_[at + i] / by.down[side[i]];
}

void State::advance_two(int coordinate, const double values[2], double rate) {
    begun_ = false;
    const double c = coordinate_scale(coordinate), kc = (coordinate + 1) * c;
    TwoSteps& step = two_[coordinate];
    step.taken = true;
    for (const int side : {0, 1}) {
        const double t = rate * values[side];
        step.move[side] = t;
        step.factors.up[side] = vexp(c * t);
        step.factors.down[side] = vexp(-kc * t);
    }
    const bool derives = loss_ == Loss::gll && coordinate + 2 < classes_;
    const auto count = static_cast<std::ptrdiff_t>(blocks());
    std::vector<Sizes> largest(derives ? count : 0);
    with_loss(loss_, [&]<Loss L>() {
#pragma omp parallel for num_threads(threads_) schedule(static)
        for (std::ptrdiff_t b = 0; b < count; ++b) {
            const Block rows = block(b);
            if (!derives) {
                advance_two_block<L>(rows, coordinate);
                continue;
            }
            const std::size_t i = rows.begin, at = static_cast<std::size_t>(coordinate) * rows_ + i;
            largest[b] = gll_advance(step.factors, &sides_[at], &terms_[at + rows_], gll_view(rows, coordinate + 1),
                                     rows.end - i, &low_[i], &gradient[i], &curvature[i]);
        }
    });
    derived_ = derives ? coordinate + 1 : -1;
    if (derives) note_sizes(largest);
}

// Class j is the pivot of coordinate j-1, and below the pivots of coordinate j and later ones: S_j moves by
// sum_{r >= j} c_r f_r - j c_{j-1} f_{j-1}, classes from the last to the first. Here f is one of two values.
void State::finish_by_sides(Block rows, Leaders& leaders) {
    const std::size_t count = rows.end - rows.begin;
    double moved[kChunk];
    std::fill(moved, moved + count, 0.0);
    std::fill(leaders.top, leaders.top + count, -std::numeric_limits<double>::infinity());
    const SideMove nothing{&sides_[rows.begin], {0.0, 0.0}};
    SideMove below = nothing;
    for (int j = classes_ - 1; j >= 0; --j) {
        SideMove pivot = nothing, next = nothing;
        if (j > 0) {
            const double c = coordinate_scale(j - 1), own = -j * c, *move = two_[j - 1].move;
            pivot = {&sides_[(j - 1) * rows_ + rows.begin], {own * move[0], own * move[1]}};
            next = {pivot.side, {c * move[0], c * move[1]}};
        }
        move_by_sides(below, pivot, j, count, moved, &scores[j * rows_ + rows.begin], leaders.top, leaders.best);
        below = next;
    }
}

// The same with any f, which `advance` left in place of the pivot's term.
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
    const auto sided = std::count_if(two_.begin(), two_.end(), [](const TwoSteps& step) { return step.taken; });
    if (sided != 0 && sided != classes_ - 1) throw std::logic_error("a round takes steps of one kind");
    started_ = begin_after(
        [&](Block rows, Leaders& leaders) { sided ? finish_by_sides(rows, leaders) : finish_by_steps(rows, leaders); });
    begun_ = true;
}

}  // namespace permissible::mcboost
