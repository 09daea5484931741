// The passes, one instantiation per loss and kind of sample weight; inner loops are plain so that they become vector
// code.
#include "losses/passes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/avx512.hpp"
#include "common/parallel.hpp"
#include "histogram/packed.hpp"
#include "losses/margin.hpp"
#include "losses/pass_loops.hpp"

namespace permissible::rules {

namespace {

template <WeightMode Mode, class Loss>
PERMISSIBLE_CLONES void measure_four(const Loss& loss, const Examples& examples, const uint8_t* mask,
                                     const Factors& factors, const Grids& grids, std::size_t begin, std::size_t end,
                                     MeasureSums& sums) {
    measure_rows<V4, Mode>(loss, examples, mask, factors, grids, begin, end, sums);
}

template <WeightMode Mode, class Loss>
PERMISSIBLE_CLONES void apply_four(const Loss& loss, const Examples& examples, const uint8_t* mask,
                                   const Factors& factors, const Grids& grids, std::size_t begin, std::size_t end,
                                   ApplySums& sums) {
    apply_rows<V4, Mode>(loss, examples, mask, factors, grids, begin, end, sums);
}

template <WeightMode Mode, bool Pair, class Loss>
PERMISSIBLE_CLONES void pack_four(const Loss& loss, const Examples& examples, double weight_grid, double curvature_grid,
                                  std::size_t begin, std::size_t end, int64_t* out) {
    pack_rows<V4, Mode, Pair>(loss, examples, weight_grid, curvature_grid, begin, end, out);
}

template <class Loss>
Kernels<Loss> kernels() {
    if constexpr (Loss::in_lanes) {
        if (has_avx512()) return wide_kernels<Loss>();
    }
    constexpr auto none = WeightMode::none, whole = WeightMode::whole, real = WeightMode::real;
    return {{measure_four<none, Loss>, measure_four<whole, Loss>, measure_four<real, Loss>},
            {apply_four<none, Loss>, apply_four<whole, Loss>, apply_four<real, Loss>},
            {{pack_four<none, false, Loss>, pack_four<none, true, Loss>},
             {pack_four<real, false, Loss>, pack_four<real, true, Loss>}}};
}

template <class Loss>
class Passes final : public LossPasses {
  public:
    explicit Passes(Loss loss) : loss_(loss) {}

    void measure(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin, std::size_t end,
                 Measured& sums) const override {
        const Factors factors(loss_, step);
        const auto kernel = kernels_.measure[static_cast<int>(examples.mode)];
        for (std::size_t first = begin; first < end; first += run_rows(examples)) {
            MeasureSums run;
            kernel(loss_, examples, step.mask, factors, grids, first, std::min(end, first + run_rows(examples)), run);
            add(sums, run);
        }
    }

    void apply(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin, std::size_t end,
               StepSums& sums) const override {
        const Factors factors(loss_, step);
        const auto kernel = kernels_.apply[static_cast<int>(examples.mode)];
        for (std::size_t first = begin; first < end; first += run_rows(examples)) {
            ApplySums run;
            kernel(loss_, examples, step.mask, factors, grids, first, std::min(end, first + run_rows(examples)), run);
            add(sums, run);
        }
    }

    void pack(const Examples& examples, std::size_t begin, std::size_t n, double weight_grid, double curvature_grid,
              bool pair, int64_t* out) const override {
        kernels_.pack[examples.mode == WeightMode::real][pair](loss_, examples, weight_grid, curvature_grid, begin,
                                                               begin + n, out);
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
    double value_of(double margin) const override { return loss_.value(Loss::state_of(margin)); }
    void derivatives_of(double margin, double* three) const override {
        const Derivatives<double> d = loss_.at(Loss::state_of(margin));
        three[0] = d.weight, three[1] = d.curvature, three[2] = d.slope;
    }
    bool smooth() const override { return Loss::smooth; }
    double cap() const override { return loss_.cap; }
    bool attained() const override { return loss_.attained; }

  private:
    static_assert(kCopiedRows <= std::size_t{1} << (63 - 1 - kPassBits - kMultiplicityBits));
    /// How many rows may be summed in 64 bits; a work item has at most kPassRows.
    static std::size_t run_rows(const Examples& examples) {
        return examples.mode == WeightMode::whole ? kCopiedRows : kPassRows;
    }

    static void add(Measured& sums, const MeasureSums& more) {
        for (int s = 0; s < 3; ++s) {
            sums.in[s] += more.covered[s];
            sums.out[s] += static_cast<__int128>(more.all[s]) - more.covered[s];
        }
    }

    static void add(StepSums& sums, const ApplySums& more) {
        sums.weight += more.weight;
        sums.curvature += more.curvature;
        sums.value += more.value;
        sums.error += more.error;
        sums.covered += more.covered;
        sums.covered_positive += more.covered_positive;
        sums.low_state = std::min(sums.low_state, more.low);
        sums.high_state = std::max(sums.high_state, more.high);
    }

    Loss loss_;
    Kernels<Loss> kernels_ = kernels<Loss>();
};

}  // namespace

std::unique_ptr<LossPasses> make_passes(const Functor& loss) {
    const std::string& name = loss.name;
    if (name == "logistic") return std::make_unique<Passes<Logistic>>(Logistic{});
    if (name == "matsushita") return std::make_unique<Passes<Matsushita>>(Matsushita{});
    if (name == "squared") return std::make_unique<Passes<Squared>>(Squared{});
    if (name == "least_squares") return std::make_unique<Passes<LeastSquares>>(LeastSquares{});
    if (name == "exponential") return std::make_unique<Passes<Exponential>>(Exponential{});
    if (name == "logcosh") return std::make_unique<Passes<LogCosh>>(LogCosh{{}, loss.parameter});
    if (name == "power") return std::make_unique<Passes<Power>>(Power{{}, loss.parameter});
    if (name == "table" && loss.table) {
        return std::make_unique<Passes<Tabulated>>(Tabulated{{}, loss.table, loss.parameter, loss.parameter >= 1e8});
    }
    return nullptr;
}

double pass_grid(double largest) {
    if (!(largest > 0.0) || !std::isfinite(largest)) return 1.0;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::min(kPassBits - exponent, 1000));
}

}  // namespace permissible::rules
