// The inner loops of the passes, over V rows at a time: measure, apply, pack. A run handles whole registers and returns
// where it stopped; the remaining rows are handled one by one, with the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/lanes.hpp"
#include "common/parallel.hpp"
#include "losses/margin.hpp"
#include "losses/passes.hpp"

namespace permissible::rules {

/// The factors of the four kinds of rows: covered or not, positive or not (a step v moves the margin by y v).
struct Factors {
    double in_positive = 1.0, in_negative = 1.0, out_positive = 1.0, out_negative = 1.0;

    Factors() = default;
    template <class Loss>
    Factors(const Loss& loss, const Step& step)
        : in_positive(loss.factor(step.value_in)),
          in_negative(loss.factor(-step.value_in)),
          out_positive(loss.factor(step.value_out)),
          out_negative(loss.factor(-step.value_out)) {}
};

/// The factors spread over lanes once, before a loop.
template <class V>
struct FactorLanes {
    V in_positive, in_negative, out_positive, out_negative;

    explicit PERMISSIBLE_INLINE FactorLanes(const Factors& from)
        : in_positive(Lanes<V>::all(from.in_positive)),
          in_negative(Lanes<V>::all(from.in_negative)),
          out_positive(Lanes<V>::all(from.out_positive)),
          out_negative(Lanes<V>::all(from.out_negative)) {}
    template <class Flags>
    PERMISSIBLE_INLINE V of(Flags in, Flags positive) const {
        return select(in, select(positive, in_positive, in_negative), select(positive, out_positive, out_negative));
    }
};

/// The integer sums of a run of rows; every field is added to.
struct MeasureSums {
    int64_t all[3] = {0, 0, 0};
    int64_t covered[3] = {0, 0, 0};
};

/// What a kernel is given: the rows [begin, end) of some examples, the steps that may move them, and their grids.
struct PassRows {
    const Examples& examples;
    const uint8_t* mask;
    const Factors* factors;
    Grids grids;
    std::size_t begin, end;
};

/// A sum of lifted integers without the lift.
PERMISSIBLE_INLINE int64_t lowered(int64_t sum, uint64_t count) {
    return static_cast<int64_t>(static_cast<uint64_t>(sum) - count * static_cast<uint64_t>(kMagicBits));
}

/// The sample weights of V rows: real ones multiply a number before it is rounded, copies the integer that it becomes.
template <class V, WeightMode Mode>
struct Samples {
    using Ints = typename Lanes<V>::Ints;
    V real = Lanes<V>::all(1.0);
    Ints copies{};

    PERMISSIBLE_INLINE Samples(const Examples& examples, std::size_t row) {
        if constexpr (Mode == WeightMode::real) real = Lanes<V>::load(examples.real_weight + row);
        if constexpr (Mode == WeightMode::whole) copies = Lanes<V>::ints(examples.multiplicity + row);
    }
    /// The integer of a number, lifted unless it has copies.
    PERMISSIBLE_INLINE Ints term(V number) const {
        if constexpr (Mode == WeightMode::whole) return rounded(number) * copies;
        return lifted(number);
    }
    static PERMISSIBLE_INLINE int64_t lowered(int64_t sum, uint64_t count) {
        return Mode == WeightMode::whole ? sum : rules::lowered(sum, count);
    }
};

template <class V, WeightMode Mode, int Steps, class Loss>
PERMISSIBLE_INLINE std::size_t measure_run(const Loss& loss, const PassRows& pass, std::size_t begin,
                                           MeasureSums* sums) {
    using L = Lanes<V>;
    using Ints = typename L::Ints;
    const Examples examples = pass.examples;
    Ints rows_in{}, all[Steps][3] = {}, covered[Steps][3] = {};
    const FactorLanes<V> spread[3] = {FactorLanes<V>(pass.factors[0]), FactorLanes<V>(pass.factors[Steps / 2]),
                                      FactorLanes<V>(pass.factors[Steps - 1])};
    const V weight_grid = L::all(pass.grids.weight), curvature_grid = L::all(pass.grids.curvature);
    std::size_t i = begin;
    for (const std::size_t end = pass.end; i + L::count <= end; i += L::count) {
        const Ints in = L::flags(pass.mask + i), positive = L::flags(examples.positive + i);
        const V now = L::load(examples.state + i);
        const Samples<V, Mode> samples(examples, i);
        const V sign = select(positive, samples.real, -samples.real);
        const V signed_weight = sign * weight_grid, signed_slope = sign * curvature_grid;
        rows_in = counted(rows_in, in);
        for (int step = 0; step < Steps; ++step) {
            const Derivatives<V> d = loss.at(loss.moved(now, spread[step].of(in, positive)));
            const Ints terms[3] = {samples.term(d.weight * signed_weight),
                                   samples.term(samples.real * d.curvature * curvature_grid),
                                   samples.term(d.slope * signed_slope)};
            for (int s = 0; s < 3; ++s) {
                all[step][s] = wrapped(all[step][s], terms[s]);
                covered[step][s] = wrapped(covered[step][s], kept(in, terms[s]));
            }
        }
    }
    const uint64_t rows = i - begin, inside = static_cast<uint64_t>(total(rows_in));
    for (int step = 0; step < Steps; ++step) {
        for (int s = 0; s < 3; ++s) {
            sums[step].all[s] += Samples<V, Mode>::lowered(total(all[step][s]), rows);
            sums[step].covered[s] += Samples<V, Mode>::lowered(total(covered[step][s]), inside);
        }
    }
    return i;
}

template <class V, WeightMode Mode, class Loss>
PERMISSIBLE_INLINE std::size_t apply_run(const Loss& loss, const PassRows& pass, std::size_t begin, RunSums& sums) {
    using L = Lanes<V>;
    using Ints = typename L::Ints;
    const Examples examples = pass.examples;  // copies, which no store can change
    const Grids grids = pass.grids;
    const uint8_t *const mask = pass.mask, *const labels = examples.positive;
    double* const states = examples.state;
    Ints weight{}, curvature{}, value{}, error{}, covered{}, covered_positive{};
    V low = L::all(sums.low_state), high = L::all(sums.high_state);
    const V zero_state = L::all(Loss::state_of(0.0)), value_grid = L::all(grids.value);
    const V weight_grid = L::all(grids.weight), curvature_grid = L::all(grids.curvature);
    const FactorLanes<V> spread(pass.factors[0]);
    std::size_t i = begin;
    for (const std::size_t end = pass.end; i + L::count <= end; i += L::count) {
        const Ints in = L::flags(mask + i), positive = L::flags(labels + i);
        const V state = loss.moved(L::load(states + i), spread.of(in, positive));
        const Derivatives<V> d = loss.at(state);
        L::store(states + i, state);
        low = smaller(low, state);
        high = larger(high, state);
        const Samples<V, Mode> samples(examples, i);
        // Least squares has negative weights: what the edges are measured by is the sum of their sizes.
        const V w = samples.real * magnitude(d.weight), k = samples.real * d.curvature;
        weight = wrapped(weight, samples.term(w * weight_grid));
        curvature = wrapped(curvature, samples.term(k * curvature_grid));
        value = wrapped(value, samples.term(samples.real * value_of(loss, state, d) * value_grid));
        // Misclassified: a negative margin, or margin 0 of a negative example (H = 0 predicts +1).
        const Ints wrong = (Loss::rising ? below(state, zero_state) : below(zero_state, state)) |
                           (equal(state, zero_state) & ~positive);
        if constexpr (Mode == WeightMode::none) {
            error = counted(error, wrong);
            covered = counted(covered, in);
            covered_positive = counted(covered_positive, in & positive);
        } else {
            Ints share = samples.copies;
            if constexpr (Mode == WeightMode::real) share = rounded(samples.real * grids.error);
            error += kept(wrong, share);
            covered += kept(in, share);
            covered_positive += kept(in & positive, share);
        }
    }
    const uint64_t rows = i - begin;
    sums.weight += Samples<V, Mode>::lowered(total(weight), rows);
    sums.curvature += Samples<V, Mode>::lowered(total(curvature), rows);
    sums.value += Samples<V, Mode>::lowered(total(value), rows);
    sums.error += total(error);
    sums.covered += total(covered);
    sums.covered_positive += total(covered_positive);
    sums.low_state = smaller(sums.low_state, least(low));
    sums.high_state = larger(sums.high_state, greatest(high));
    return i;
}

template <class V, WeightMode Mode, bool Pair, class Loss>
PERMISSIBLE_INLINE std::size_t pack_run(const Loss& loss, const PassRows& pass, std::size_t i, int64_t* out) {
    using L = Lanes<V>;
    using Ints = typename L::Ints;
    const Examples examples = pass.examples;  // copies, which no store can change
    const std::size_t first = pass.begin, end = pass.end;
    const V weights = L::all(pass.grids.weight), curvatures = L::all(pass.grids.curvature);
    for (; i + L::count <= end; i += L::count) {
        const auto positive = L::flags(examples.positive + i);
        const Derivatives<V> d = loss.at(L::load(examples.state + i));
        const Samples<V, Mode> samples(examples, i);
        const V w = samples.real * d.weight;
        // In single precision first, like weights given by the caller.
        const Ints signed_weight = rounded(L::single(select(positive, w, -w)) * weights);
        Ints packed = signed_weight;
        if constexpr (Pair)
            packed = (signed_weight << 32) + rounded(L::single(samples.real * d.curvature) * curvatures);
        std::memcpy(out + (i - first), &packed, sizeof packed);
    }
    return i;
}

/// Signed weights and curvatures in single precision.
template <class V, WeightMode Mode, class Loss>
PERMISSIBLE_INLINE std::size_t floats_run(const Loss& loss, const PassRows& pass, std::size_t i, float* weight,
                                          float* curvature) {
    using L = Lanes<V>;
    const Examples examples = pass.examples;
    for (; i + L::count <= pass.end; i += L::count) {
        const Derivatives<V> d = loss.at(L::load(examples.state + i));
        const Samples<V, Mode> samples(examples, i);
        const V w = samples.real * d.weight;
        L::store(weight + (i - pass.begin), select(L::flags(examples.positive + i), w, -w));
        L::store(curvature + (i - pass.begin), samples.real * d.curvature);
    }
    return i;
}

#ifndef PERMISSIBLE_KERNEL  // the file for AVX-512 needs no clones
#define PERMISSIBLE_KERNEL PERMISSIBLE_CLONES
#endif

namespace {

/// One run of registers, then single rows: the kernels, for any width of register.
template <class V, WeightMode Mode, int Steps, class Loss>
PERMISSIBLE_KERNEL void measure_rows(const Loss& loss, const PassRows& pass, MeasureSums* sums) {
    std::size_t begin = pass.begin;
    if constexpr (Loss::in_lanes) begin = measure_run<V, Mode, Steps>(loss, pass, begin, sums);
    measure_run<double, Mode, Steps>(loss, pass, begin, sums);
}

template <class V, WeightMode Mode, class Loss>
PERMISSIBLE_KERNEL void apply_rows(const Loss& loss, const PassRows& pass, RunSums& sums) {
    std::size_t begin = pass.begin;
    if constexpr (Loss::in_lanes) begin = apply_run<V, Mode>(loss, pass, begin, sums);
    apply_run<double, Mode>(loss, pass, begin, sums);
}

template <class V, WeightMode Mode, bool Pair, class Loss>
PERMISSIBLE_KERNEL void pack_rows(const Loss& loss, const PassRows& pass, int64_t* out) {
    std::size_t begin = pass.begin;
    if constexpr (Loss::in_lanes) begin = pack_run<V, Mode, Pair>(loss, pass, begin, out);
    pack_run<double, Mode, Pair>(loss, pass, begin, out);
}

template <class V, WeightMode Mode, class Loss>
PERMISSIBLE_KERNEL void float_rows(const Loss& loss, const PassRows& pass, float* weight, float* curvature) {
    std::size_t begin = pass.begin;
    if constexpr (Loss::in_lanes) begin = floats_run<V, Mode>(loss, pass, begin, weight, curvature);
    floats_run<double, Mode>(loss, pass, begin, weight, curvature);
}

}  // namespace

/// Rows of one run with copies: a term has at most kPassBits bits, a weight kMultiplicityBits, so that their sum fits.
inline constexpr std::size_t kCopiedRows = 64;

/// So many steps are measured in one visit, if there are as many.
inline constexpr int kTogether = 3;

/// The kernels of a loss, by the kind of sample weights; packed (without copies, which come later) alone or in pairs.
template <class Loss>
struct Kernels {
    void (*measure[3])(const Loss&, const PassRows&, MeasureSums*);
    void (*measure_together[3])(const Loss&, const PassRows&, MeasureSums*);
    void (*apply[3])(const Loss&, const PassRows&, RunSums&);
    void (*pack[2][2])(const Loss&, const PassRows&, int64_t*);
    void (*floats[2])(const Loss&, const PassRows&, float*, float*);
};

namespace {

template <class V, class Loss>
Kernels<Loss> kernels_of() {
    constexpr auto none = WeightMode::none, whole = WeightMode::whole, real = WeightMode::real;
    constexpr int all = kTogether;
    return {{measure_rows<V, none, 1, Loss>, measure_rows<V, whole, 1, Loss>, measure_rows<V, real, 1, Loss>},
            {measure_rows<V, none, all, Loss>, measure_rows<V, whole, all, Loss>, measure_rows<V, real, all, Loss>},
            {apply_rows<V, none, Loss>, apply_rows<V, whole, Loss>, apply_rows<V, real, Loss>},
            {{pack_rows<V, none, false, Loss>, pack_rows<V, none, true, Loss>},
             {pack_rows<V, real, false, Loss>, pack_rows<V, real, true, Loss>}},
            {float_rows<V, none, Loss>, float_rows<V, real, Loss>}};
}

}  // namespace

/// The kernels with eight rows a register; only for losses that go in lanes, only where `has_avx512`.
template <class Loss>
Kernels<Loss> wide_kernels();

}  // namespace permissible::rules
