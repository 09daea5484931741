// See scan.hpp.
#include "trees/boosted/growth/scan.hpp"

#include <algorithm>
#include <cstring>

namespace permissible::boosted {

namespace {

#pragma GCC diagnostic ignored "-Wpsabi"  // every function here is inlined: no vector crosses a call
typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));

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
        const I8 hr = h_all - hl, gr = g_all - gl;
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

/// Codes sorted by G / (H + smoothing); the best beginning or end of that order stays. The codes of the smaller side
/// are at most `most_categories`; a code that no row of the leaf holds is on the right.
Candidate scan_categories(const Column& column, const int64_t* cells, Sums total, const ScanLimits& limits) {
    struct Code {
        float ratio;
        int cell;
    };
    Code order[258];
    int count = 0;
    for (int cell = 0; cell < column.bins + 2; ++cell) {
        const Sums sums{cells[cell]};
        if (sums.packed == 0) continue;
        const float h = static_cast<float>(sums.curvature()) + limits.category_smoothing;
        order[count++] = {static_cast<float>(sums.gradient()) / (h > 0.0f ? h : 1.0f), cell};
    }
    std::sort(order, order + count,
              [](const Code& a, const Code& b) { return a.ratio != b.ratio ? a.ratio < b.ratio : a.cell < b.cell; });
    const float l2 = limits.l2 + limits.category_l2;
    Candidate best;
    int at = -1;
    Sums left;
    for (int k = 0; k + 1 < count; ++k) {
        left.packed += cells[order[k].cell];
        if (std::min(k + 1, count - k - 1) > limits.most_categories) continue;
        for (const bool inside_left : {true, false}) {
            if (!inside_left && !limits.rule) break;
            const Sums one{inside_left ? left.packed : left.packed + limits.outside.packed};
            const Sums other{total.packed + limits.outside.packed - one.packed};
            if (one.curvature() < limits.least_curvature || other.curvature() < limits.least_curvature) continue;
            const float worth =
                worth_of<float>(static_cast<float>(one.gradient()), static_cast<float>(one.curvature()) + l2,
                                static_cast<float>(other.gradient()), static_cast<float>(other.curvature()) + l2);
            if (worth > best.worth) best.worth = worth, best.left = left, best.inside_left = inside_left, at = k;
        }
    }
    if (at < 0) return {};
    best.split.test = Test::in_set;
    for (int k = 0; k <= at; ++k) {
        const uint8_t code = code_of_cell(column, order[k].cell);
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
