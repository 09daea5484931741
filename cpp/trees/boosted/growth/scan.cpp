// See scan.hpp.
#include "trees/boosted/growth/scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace permissible::boosted {

namespace {

#pragma GCC diagnostic ignored "-Wpsabi"  // every function here is inlined: no vector crosses a call
typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef uint32_t U8 __attribute__((vector_size(32)));

/// The worth of both sides, one division: G^2/(H + l2) summed over left and right.
template <class Number>
inline __attribute__((always_inline)) Number worth_of(Number gl, Number hl, Number gr, Number hr) {
    return (gl * gl * hr + gr * gr * hl) / (hl * hr);
}

struct Best {
    float worth = 0.0f;
    int at = -1;
};

/// The best of the cuts of `width` running sums, to each of which `more` is added (the missing values, when left).
PERMISSIBLE_WIDE_CLONES
Best best_cut(const int64_t* running, int width, int64_t more, Sums total, float l2, int32_t least) {
    const int32_t more_g = static_cast<int32_t>(more >> 32), more_h = static_cast<int32_t>(more);
    const int32_t g_all = total.gradient(), h_all = total.curvature();
    F8 best{};
    I8 best_at = I8{} - 1, at{0, 1, 2, 3, 4, 5, 6, 7};
    for (int k = 0; k < width; k += 8, at += 8) {
        I8 low, high;
        std::memcpy(&low, running + k, 32);
        std::memcpy(&high, running + k + 4, 32);
        const I8 hl = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14) + more_h;
        const I8 gl = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15) + more_g;
        const I8 hr = (I8)(static_cast<uint32_t>(h_all) - (U8)hl), gr = g_all - gl;  // a refused cut may wrap
        const F8 worth = worth_of<F8>(__builtin_convertvector(gl, F8), __builtin_convertvector(hl, F8) + l2,
                                      __builtin_convertvector(gr, F8), __builtin_convertvector(hr, F8) + l2);
        const I8 better = (hl >= least) & (hr >= least) & (worth > best);
        best = better ? worth : best;
        best_at = better ? at : best_at;
    }
    Best found;
    for (int lane = 0; lane < 8; ++lane) {
        const bool tie = best[lane] == found.worth && best_at[lane] < found.at;
        if (best_at[lane] >= 0 && (best[lane] > found.worth || tie)) found = {best[lane], best_at[lane]};
    }
    return found;
}

struct Sided {
    double worth = 0.0, value = 0.0;
};

/// A side whose value is kept within bounds: 2 G v - (H + l2) v^2.
Sided bounded_side(Sums side, const ScanLimits& limits) {
    const double h = static_cast<double>(side.curvature()) + static_cast<double>(limits.l2), g = side.gradient();
    const double value = std::clamp(g / h, limits.low, limits.high);
    return {2.0 * g * value - h * value * value, value};
}

void scan_bounded(const Column& column, const int64_t* running, int width, Sums total, int64_t missing, Test test,
                  const ScanLimits& limits, Candidate& best) {
    const int64_t more = test == Test::missing_left ? missing : 0;
    for (int k = 0; k < width && k < column.bins; ++k) {
        const Sums left{running[k] + more}, right{total.packed - left.packed};
        if (left.curvature() < limits.least_curvature || right.curvature() < limits.least_curvature) continue;
        const Sided a = bounded_side(left, limits), b = bounded_side(right, limits);
        if ((b.value - a.value) * direction_of(column, test, k) < 0.0) continue;
        const auto worth = static_cast<float>(a.worth + b.worth);
        if (!(worth > best.worth)) continue;
        best.worth = worth, best.left = left, best.value_left = a.value, best.value_right = b.value;
        best.split.test = test, best.split.cut = static_cast<uint8_t>(k);
    }
}

/// A rule's literal: the left side with the rest of all rows on the right, and the other way round.
void scan_sides(const int64_t* running, int width, int64_t more, Sums total, Test test, const ScanLimits& limits,
                Candidate& best) {
    for (const bool inside_left : {true, false}) {
        const int64_t rest = limits.outside.packed, added = inside_left ? more : more + rest;
        const Best found = best_cut(running, width, added, {total.packed + rest}, limits.l2, limits.least_curvature);
        if (!(found.worth > best.worth)) continue;
        best.worth = found.worth, best.inside_left = inside_left;
        best.split.test = test, best.split.cut = static_cast<uint8_t>(found.at);
        best.left = {running[found.at] + more};
    }
}

Candidate scan_numeric(const Column& column, const int64_t* running, int width, Sums total, const ScanLimits& limits) {
    Candidate best;
    const int64_t missing = total.packed - running[width - 1];
    for (const Test test : {Test::missing_right, Test::missing_left}) {
        if (test == Test::missing_left && missing == 0) break;
        if (limits.bounded) {
            scan_bounded(column, running, width, total, missing, test, limits, best);
            continue;
        }
        const int64_t more = test == Test::missing_left ? missing : 0;
        if (limits.rule) {
            scan_sides(running, width, more, total, test, limits, best);
            continue;
        }
        const Best found = best_cut(running, width, more, total, limits.l2, limits.least_curvature);
        if (!(found.worth > best.worth)) continue;
        best.worth = found.worth;
        best.split.test = test;
        best.split.cut = static_cast<uint8_t>(found.at);
        best.left = {running[found.at] + more};
    }
    return best;
}

uint8_t code_of_cell(const Column& column, int cell) {
    return static_cast<uint8_t>(cell < column.bins ? cell : cell == column.bins ? kOther : kMissing);
}

/// The place of each of n numbers in rising order, ties by index: each is compared with all, without a branch. Those
/// from n to the next multiple of 16 are the largest.
PERMISSIBLE_WIDE_CLONES
void rank_all(const int32_t* value, int n, int32_t* place) {
    const int padded = (n + 15) / 16 * 16;
    for (int i = 0; i < n; ++i) {
        int32_t before = 0, own = value[i];
        for (int j = 0; j < padded; ++j) before += (value[j] < own) | ((value[j] == own) & (j < i));
        place[i] = before;
    }
}

/// The cells that some row of the leaf holds, in the order of G / (H + smoothing), ties by cell; returns how many.
int order_cells(const Column& column, const int64_t* cells, float smoothing, int* order) {
    int32_t rank[272], place[272];
    int held[258], count = 0;
    for (int cell = 0; cell < column.bins + 2; ++cell) {
        const Sums sums{cells[cell]};
        const float h = static_cast<float>(sums.curvature()) + smoothing;
        const float ratio = static_cast<float>(sums.gradient()) / (h > 0.0f ? h : 1.0f) + 0.0f;  // no -0
        const auto bits = std::bit_cast<int32_t>(ratio);
        rank[count] = bits ^ ((bits >> 31) & 0x7fffffff);  // an integer of the same order
        held[count] = cell;
        count += sums.packed != 0;
    }
    std::fill(rank + count, rank + (count + 15) / 16 * 16, std::numeric_limits<int32_t>::max());
    rank_all(rank, count, place);
    for (int k = 0; k < count; ++k) order[place[k]] = held[k];
    return count;
}

/// The best beginning of the codes in their order stays, or the rest of them. The codes of the smaller side are at most
/// `most_categories`; a code that no row of the leaf holds is on the right.
Candidate scan_categories(const Column& column, const int64_t* cells, Sums total, const ScanLimits& limits) {
    int order[258];
    const int count = order_cells(column, cells, limits.category_smoothing, order);
    if (count < 2) return {};
    constexpr int64_t kNone = std::numeric_limits<int32_t>::min();  // less curvature than any side may have
    int64_t running[264];
    int64_t sum = 0;
    for (int k = 0; k + 1 < count; ++k) {
        sum += cells[order[k]];
        running[k] = std::min(k + 1, count - k - 1) > limits.most_categories ? kNone : sum;
    }
    const int width = (count - 1 + 7) / 8 * 8;
    std::fill(running + count - 1, running + width, kNone);
    const float l2 = limits.l2 + limits.category_l2;
    const int64_t rest = limits.outside.packed;
    Candidate best;
    int at = -1;
    for (const bool inside_left : {true, false}) {
        if (!inside_left && !limits.rule) break;
        const Best found =
            best_cut(running, width, inside_left ? 0 : rest, {total.packed + rest}, l2, limits.least_curvature);
        if (found.at < 0 || !(found.worth > best.worth || (found.worth == best.worth && found.at < at))) continue;
        best.worth = found.worth, best.left = {running[found.at]}, best.inside_left = inside_left, at = found.at;
    }
    if (at < 0) return {};
    best.split.test = Test::in_set;
    for (int k = 0; k <= at; ++k) {
        const uint8_t code = code_of_cell(column, order[k]);
        best.split.set[code >> 6] |= uint64_t{1} << (code & 63);
    }
    if (limits.bounded) {
        const Sided a = bounded_side(best.left, limits), b = bounded_side({total.packed - best.left.packed}, limits);
        best.worth = static_cast<float>(a.worth + b.worth);
        best.value_left = a.value, best.value_right = b.value;
    }
    return best;
}

/// One of the columns of a bundle: the rows that hold a one go. Worths are those of the column itself.
Candidate scan_members(const Column& column, const int64_t* cells, Sums total, const ScanLimits& limits) {
    Candidate best;
    for (std::size_t place = 0; place < column.members.size(); ++place) {
        if (!limits.used[column.members[place]]) continue;
        const Sums right{cells[place + 1]}, left{total.packed - right.packed};
        if (left.curvature() < limits.least_curvature || right.curvature() < limits.least_curvature) continue;
        const float worth =
            worth_of<float>(static_cast<float>(left.gradient()), static_cast<float>(left.curvature()) + limits.l2,
                            static_cast<float>(right.gradient()), static_cast<float>(right.curvature()) + limits.l2);
        if (!(worth > best.worth)) continue;
        best.worth = worth, best.left = left;
        best.split.cut = static_cast<uint8_t>(place + 1);
    }
    best.split.test = Test::in_set;
    best.split.set.fill(~uint64_t{0});
    best.split.set[best.split.cut >> 6] ^= uint64_t{1} << (best.split.cut & 63);
    return best;
}

}  // namespace

Candidate scan_column(const Column& column, const int64_t* cells, int width, Sums total, const ScanLimits& limits) {
    if (width == 0) return {};
    if (!column.members.empty()) return scan_members(column, cells, total, limits);
    return column.categorical ? scan_categories(column, cells, total, limits)
                              : scan_numeric(column, cells, width, total, limits);
}

}  // namespace permissible::boosted
