// The passes, one instantiation per loss and kind of sample weight; inner loops are plain so that they become vector
// code.
#include "boosting/passes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boosting/lanes.hpp"
#include "boosting/losses.hpp"
#include "common/parallel.hpp"

namespace permissible::boosting {

namespace {

/// The factors of the four kinds of rows: covered or not, positive or not (a step v moves the margin by y v).
struct Factors {
    double in_positive, in_negative, out_positive, out_negative;

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
    template <class Mask>
    PERMISSIBLE_INLINE V of(Mask in, Mask positive) const {
        return select(in, select(positive, in_positive, in_negative), select(positive, out_positive, out_negative));
    }
};

/// The integer sums of a run of rows; every field is added to.
struct MeasureSums {
    int64_t all[3] = {0, 0, 0};
    int64_t covered[3] = {0, 0, 0};
};

struct ApplySums {
    int64_t weight = 0, curvature = 0, value = 0, error = 0, covered = 0, covered_positive = 0;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
};

/// A sum of lifted integers without the lift.
PERMISSIBLE_INLINE int64_t lowered(int64_t sum, uint64_t count) {
    return static_cast<int64_t>(static_cast<uint64_t>(sum) - count * static_cast<uint64_t>(kMagicBits));
}

template <class V, bool Real, class Loss>
PERMISSIBLE_INLINE std::size_t measure_run(const Loss& loss, const Examples& examples, const uint8_t* mask,
                                           const Factors& factors, const Grids& grids, std::size_t begin,
                                           std::size_t end, MeasureSums& sums) {
    using L = Lanes<V>;
    using Mask = typename L::Mask;
    Mask count = Mask{} * 0;
    Mask all[3] = {count, count, count}, covered[3] = {count, count, count};
    const FactorLanes<V> spread(factors);
    const V weight_grid = L::all(grids.weight), curvature_grid = L::all(grids.curvature);
    std::size_t i = begin;
    for (; i + L::count <= end; i += L::count) {
        const Mask in = L::flags(mask + i), positive = L::flags(examples.positive + i);
        const V state = loss.moved(L::load(examples.state + i), spread.of(in, positive));
        const Derivatives<V> d = loss.at(state);
        V sample = L::all(1.0);
        if constexpr (Real) sample = L::load(examples.real_weight + i);
        const V sign = select(positive, sample, -sample);
        const Mask terms[3] = {lifted(sign * d.weight * weight_grid), lifted(sample * d.curvature * curvature_grid),
                               lifted(sign * d.slope * curvature_grid)};
        count -= in;
        for (int s = 0; s < 3; ++s) {
            all[s] = wrapped(all[s], terms[s]);
            covered[s] = wrapped(covered[s], terms[s] & in);
        }
    }
    const uint64_t rows = i - begin, rows_in = static_cast<uint64_t>(total(count));
    for (int s = 0; s < 3; ++s) {
        sums.all[s] += lowered(total(all[s]), rows);
        sums.covered[s] += lowered(total(covered[s]), rows_in);
    }
    return i;
}

template <class V, bool Real, class Loss>
PERMISSIBLE_INLINE std::size_t apply_run(const Loss& loss, const Examples& examples, const uint8_t* mask,
                                         const Factors& factors, const Grids& grids, std::size_t begin, std::size_t end,
                                         ApplySums& sums) {
    using L = Lanes<V>;
    using Mask = typename L::Mask;
    Mask weight = Mask{} * 0, curvature = weight, value = weight, error = weight, covered = weight, hits = weight;
    V low = L::all(sums.low), high = L::all(sums.high);
    const V zero_state = L::all(Loss::state_of(0.0));
    const V value_grid = L::all(grids.value);
    double* const states = examples.state;
    const uint8_t* const labels = examples.positive;
    const FactorLanes<V> spread(factors);
    const V weight_grid = L::all(grids.weight), curvature_grid = L::all(grids.curvature);
    std::size_t i = begin;
    for (; i + L::count <= end; i += L::count) {
        const Mask in = L::flags(mask + i), positive = L::flags(labels + i);
        const V state = loss.moved(L::load(states + i), spread.of(in, positive));
        const Derivatives<V> d = loss.at(state);
        L::store(states + i, state);
        low = smaller(low, state);
        high = larger(high, state);
        V sample = L::all(1.0);
        if constexpr (Real) sample = L::load(examples.real_weight + i);
        const V w = sample * d.weight, k = sample * d.curvature;
        weight = wrapped(weight, lifted(w * weight_grid));
        curvature = wrapped(curvature, lifted(k * curvature_grid));
        value = wrapped(value, lifted(sample * loss.value(state, d) * value_grid));
        // Misclassified: a negative margin, or margin 0 of a negative example (H = 0 predicts +1).
        const Mask wrong = (Loss::rising ? below(state, zero_state) : below(zero_state, state)) |
                           (equal(state, zero_state) & ~positive);
        if constexpr (Real) {
            const Mask counted = rounded(sample * grids.error);
            error += counted & wrong;
            covered += counted & in;
            hits += counted & in & positive;
        } else {  // a flag is -1
            error -= wrong;
            covered -= in;
            hits -= in & positive;
        }
    }
    const uint64_t rows = i - begin;
    sums.weight += lowered(total(weight), rows);
    sums.curvature += lowered(total(curvature), rows);
    sums.value += lowered(total(value), rows);
    sums.error += total(error);
    sums.covered += total(covered);
    sums.covered_positive += total(hits);
    sums.low = smaller(sums.low, least(low));
    sums.high = larger(sums.high, greatest(high));
    return i;
}

template <class V, bool Real, bool Pair, class Loss>
PERMISSIBLE_INLINE std::size_t pack_run(const Loss& loss, const Examples& examples, double weight_grid,
                                        double curvature_grid, std::size_t begin, std::size_t i, std::size_t end,
                                        int64_t* out) {
    using L = Lanes<V>;
    using Mask = typename L::Mask;
    const V weights = L::all(weight_grid), curvatures = L::all(curvature_grid);
    for (; i + L::count <= end; i += L::count) {
        const Mask positive = L::flags(examples.positive + i);
        const Derivatives<V> d = loss.at(L::load(examples.state + i));
        V sample = L::all(1.0);
        if constexpr (Real) sample = L::load(examples.real_weight + i);
        const V w = sample * d.weight;
        // In single precision first, as weights that come from elsewhere are.
        const Mask signed_weight = rounded(L::single(select(positive, w, -w)) * weights);
        Mask packed = signed_weight;
        if constexpr (Pair) packed = (signed_weight << 32) + rounded(L::single(sample * d.curvature) * curvatures);
        std::memcpy(out + (i - begin), &packed, sizeof packed);
    }
    return i;
}

template <bool Real, bool Pair, class Loss>
PERMISSIBLE_CLONES void pack_plain(const Loss loss, const Examples& examples, double weight_grid, double curvature_grid,
                                   std::size_t begin, std::size_t end, int64_t* out) {
    std::size_t i = begin;
    if constexpr (Loss::in_lanes) {
        i = pack_run<V4, Real, Pair>(loss, examples, weight_grid, curvature_grid, begin, i, end, out);
    }
    pack_run<double, Real, Pair>(loss, examples, weight_grid, curvature_grid, begin, i, end, out);
}

template <bool Real, class Loss>
PERMISSIBLE_CLONES void measure_plain(const Loss loss, const Examples& examples, const uint8_t* mask,
                                      const Factors factors, const Grids grids, std::size_t begin, std::size_t end,
                                      MeasureSums& sums) {
    if constexpr (Loss::in_lanes) begin = measure_run<V4, Real>(loss, examples, mask, factors, grids, begin, end, sums);
    measure_run<double, Real>(loss, examples, mask, factors, grids, begin, end, sums);
}

template <bool Real, class Loss>
PERMISSIBLE_CLONES void apply_plain(const Loss loss, const Examples& examples, const uint8_t* mask,
                                    const Factors factors, const Grids grids, std::size_t begin, std::size_t end,
                                    ApplySums& sums) {
    if constexpr (Loss::in_lanes) begin = apply_run<V4, Real>(loss, examples, mask, factors, grids, begin, end, sums);
    apply_run<double, Real>(loss, examples, mask, factors, grids, begin, end, sums);
}

template <class Loss>
class Passes final : public LossPasses {
  public:
    explicit Passes(Loss loss) : loss_(loss) {}

    void measure(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin, std::size_t end,
                 Measured& sums) const override {
        const Factors factors(loss_, step);
        if (examples.mode == WeightMode::whole) {
            for (std::size_t i = begin; i < end; ++i) {  // each row alone, times its copies
                MeasureSums row;
                measure_run<double, false>(loss_, examples, step.mask, factors, grids, i, i + 1, row);
                add(sums, row, static_cast<int64_t>(examples.multiplicity[i]));
            }
            return;
        }
        MeasureSums block;
        (examples.mode == WeightMode::real
             ? measure_plain<true, Loss>
             : measure_plain<false, Loss>)(loss_, examples, step.mask, factors, grids, begin, end, block);
        add(sums, block, 1);
    }

    void apply(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin, std::size_t end,
               Applied& sums) const override {
        const Factors factors(loss_, step);
        if (examples.mode == WeightMode::whole) {
            for (std::size_t i = begin; i < end; ++i) {
                ApplySums row;
                apply_run<double, false>(loss_, examples, step.mask, factors, grids, i, i + 1, row);
                add(sums, row, static_cast<int64_t>(examples.multiplicity[i]));
            }
            return;
        }
        ApplySums block;
        (examples.mode == WeightMode::real
             ? apply_plain<true, Loss>
             : apply_plain<false, Loss>)(loss_, examples, step.mask, factors, grids, begin, end, block);
        add(sums, block, 1);
    }

    void pack(const Examples& examples, std::size_t begin, std::size_t n, double weight_grid, double curvature_grid,
              bool pair, int64_t* out) const override {
        const bool real = examples.mode == WeightMode::real;
        const auto kernel = real ? (pair ? pack_plain<true, true, Loss> : pack_plain<true, false, Loss>)
                                 : (pair ? pack_plain<false, true, Loss> : pack_plain<false, false, Loss>);
        kernel(loss_, examples, weight_grid, curvature_grid, begin, begin + n, out);
    }

    Bounds bounds(double low_state, double high_state, double reach) const override {
        // The state grows or falls with the margin; `low` below is always the state of the smaller margin.
        constexpr bool rising = Loss::rising;
        const double low = loss_.moved(rising ? low_state : high_state, loss_.factor(-reach));
        const double high = loss_.moved(rising ? high_state : low_state, loss_.factor(reach));
        return {std::max(std::fabs(loss_.at(low).weight), std::fabs(loss_.at(high).weight)),
                loss_.largest_curvature(low, high), std::max(loss_.value(low), loss_.value(high))};
    }

    double state_of(double margin) const override { return Loss::state_of(margin); }
    double margin_of(double state) const override { return Loss::margin_of(state); }
    double value_of(double margin) const override { return loss_.value(Loss::state_of(margin)); }
    void derivatives_of(double margin, double* three) const override {
        const Derivatives<double> d = loss_.at(Loss::state_of(margin));
        three[0] = d.weight, three[1] = d.curvature, three[2] = d.slope;
    }
    bool smooth() const override { return Loss::smooth; }
    double cap() const override { return Loss::cap; }

  private:
    static void add(Measured& sums, const MeasureSums& more, __int128 copies) {
        for (int s = 0; s < 3; ++s) {
            sums.in[s] += copies * more.covered[s];
            sums.out[s] += copies * (static_cast<__int128>(more.all[s]) - more.covered[s]);
        }
    }

    static void add(Applied& sums, const ApplySums& more, __int128 copies) {
        sums.weight += copies * more.weight;
        sums.curvature += copies * more.curvature;
        sums.value += copies * more.value;
        sums.error += copies * more.error;
        sums.covered += copies * more.covered;
        sums.covered_positive += copies * more.covered_positive;
        sums.low_state = std::min(sums.low_state, more.low);
        sums.high_state = std::max(sums.high_state, more.high);
    }

    Loss loss_;
};

}  // namespace

std::unique_ptr<LossPasses> make_passes(const std::string& loss, double parameter) {
    if (loss == "logistic") return std::make_unique<Passes<Logistic>>(Logistic{});
    if (loss == "matsushita") return std::make_unique<Passes<Matsushita>>(Matsushita{});
    if (loss == "squared") return std::make_unique<Passes<Squared>>(Squared{});
    if (loss == "least_squares") return std::make_unique<Passes<LeastSquares>>(LeastSquares{});
    if (loss == "exponential") return std::make_unique<Passes<Exponential>>(Exponential{});
    if (loss == "logcosh") return std::make_unique<Passes<LogCosh>>(LogCosh{parameter});
    if (loss == "power") return std::make_unique<Passes<Power>>(Power{parameter});
    return nullptr;
}

double pass_grid(double largest) {
    if (!(largest > 0.0) || !std::isfinite(largest)) return 1.0;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::min(kPassBits - exponent, 1000));
}

}  // namespace permissible::boosting
