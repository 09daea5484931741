// The passes, one instantiation per loss and kind of sample weight; inner loops are plain so that they become vector
// code.
#include "losses/passes.hpp"

#include <algorithm>
#include <cmath>

#include "common/avx512.hpp"
#include "histogram/packed.hpp"
#include "losses/margin.hpp"
#include "losses/pass_loops.hpp"

namespace permissible::rules {

namespace {

template <class Loss>
Kernels<Loss> kernels() {
    if constexpr (Loss::in_lanes) {
        if (has_avx512()) return wide_kernels<Loss>();
    }
    return kernels_of<V4, Loss>();
}

template <class Loss>
class Passes final : public LossPasses {
  public:
    explicit Passes(Loss loss) : loss_(loss) {}

    void measure(const Examples& examples, const std::vector<Step>& steps, const Grids& grids, std::size_t begin,
                 std::size_t end, std::vector<Measured>& sums) const override {
        std::vector<Factors> factors;
        for (const Step& step : steps) factors.emplace_back(loss_, step);
        const int mode = static_cast<int>(examples.mode);
        in_runs({examples, steps[0].mask, nullptr, grids, begin, end}, [&](PassRows& run) {
            for (std::size_t k = 0; k < steps.size();) {
                const bool together = steps.size() - k >= kTogether;
                MeasureSums own[kTogether];
                run.factors = factors.data() + k;
                (together ? kernels_.measure_together : kernels_.measure)[mode](loss_, run, own);
                for (int step = 0; step < (together ? kTogether : 1); ++step, ++k) {
                    for (int s = 0; s < 3; ++s) {
                        sums[k].in[s] += own[step].covered[s];
                        sums[k].out[s] += static_cast<__int128>(own[step].all[s]) - own[step].covered[s];
                    }
                }
            }
        });
    }

    void apply(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin, std::size_t end,
               StepSums& sums) const override {
        const Factors factors(loss_, step);
        in_runs({examples, step.mask, &factors, grids, begin, end}, [&](const PassRows& run) {
            RunSums own;
            kernels_.apply[static_cast<int>(examples.mode)](loss_, run, own);
            sums.add(own);
        });
    }

    void pack(const Examples& examples, std::size_t begin, std::size_t n, double weight_grid, double curvature_grid,
              bool pair, int64_t* out) const override {
        const PassRows rows{examples, nullptr, nullptr, {weight_grid, curvature_grid}, begin, begin + n};
        kernels_.pack[examples.mode == WeightMode::real][pair](loss_, rows, out);
    }

    void floats(const Examples& examples, std::size_t begin, std::size_t n, float* weight,
                float* curvature) const override {
        kernels_.floats[examples.mode == WeightMode::real](loss_, {examples, nullptr, {}, {}, begin, begin + n}, weight,
                                                           curvature);
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
    double remainder() const override {
        if constexpr (Loss::smooth) return Loss::remainder;
        return -1.0;
    }
    double cap() const override { return loss_.cap; }
    bool attained() const override { return loss_.attained; }

  private:
    static_assert(kCopiedRows <= std::size_t{1} << (63 - 1 - kPassBits - kMultiplicityBits));
    /// Calls work for runs of as many rows as may be summed in 64 bits; a work item has at most kPassRows.
    template <class Work>
    static void in_runs(const PassRows& all, Work work) {
        const std::size_t count = all.examples.mode == WeightMode::whole ? kCopiedRows : kPassRows;
        PassRows run = all;
        for (; run.begin < all.end; run.begin += count) {
            run.end = std::min(all.end, run.begin + count);
            work(run);
        }
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

}  // namespace permissible::rules
