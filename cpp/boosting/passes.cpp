// The passes, one instantiation per loss and kind of sample weight; inner loops are plain so that they become vector
// code.
#include "boosting/passes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "boosting/fast_log.hpp"
#include "boosting/losses.hpp"
#include "common/parallel.hpp"

namespace permissible::boosting {

namespace {

constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds a double to an integer in its low bits
constexpr int64_t kMagicBits = 0x4338000000000000LL;

inline int64_t rounded(double value) {
    const double shifted = value + kMagic;
    int64_t bits;
    std::memcpy(&bits, &shifted, 8);
    return bits - kMagicBits;
}

/// The factors of the four kinds of rows: covered or not, positive or not (a step v moves the margin by y v).
struct Factors {
    double in_positive, in_negative, out_positive, out_negative;

    template <class Loss>
    Factors(const Loss& loss, const Step& step)
        : in_positive(loss.factor(step.value_in)),
          in_negative(loss.factor(-step.value_in)),
          out_positive(loss.factor(step.value_out)),
          out_negative(loss.factor(-step.value_out)) {}
    double of(bool in, bool positive) const {
        const double a = positive ? in_positive : in_negative;
        const double b = positive ? out_positive : out_negative;
        return in ? a : b;
    }
};

/// Adds the terms of rows [begin, end) to the sums over all of them and over the covered ones.
template <class Loss>
PERMISSIBLE_CLONES void measure_plain(const Loss loss, const Examples& examples, const uint8_t* mask,
                                      const Factors factors, const Grids& grids, std::size_t begin, std::size_t end,
                                      const double* real_weight, int64_t* all, int64_t* covered) {
    int64_t all0 = 0, all1 = 0, all2 = 0, in0 = 0, in1 = 0, in2 = 0;
    const double weight_grid = grids.weight, curvature_grid = grids.curvature;
    const double* state = examples.state;
    const uint8_t* positive = examples.positive;
    for (std::size_t i = begin; i < end; ++i) {
        const double moved = loss.moved(state[i], factors.of(mask[i], positive[i]));
        const Derivatives d = loss.at(moved);
        const double sample = real_weight != nullptr ? real_weight[i] : 1.0;
        const double sign = positive[i] ? sample : -sample;
        const int64_t covers = -static_cast<int64_t>(mask[i]);
        const int64_t t0 = rounded(sign * d.weight * weight_grid);
        const int64_t t1 = rounded(sample * d.curvature * curvature_grid);
        const int64_t t2 = rounded(sign * d.slope * curvature_grid);
        all0 += t0;
        all1 += t1;
        all2 += t2;
        in0 += t0 & covers;
        in1 += t1 & covers;
        in2 += t2 & covers;
    }
    all[0] = all0, all[1] = all1, all[2] = all2;
    covered[0] = in0, covered[1] = in1, covered[2] = in2;
}

template <class Loss>
void measure_whole(const Loss loss, const Examples& examples, const uint8_t* mask, const Factors factors,
                   const Grids& grids, std::size_t begin, std::size_t end, __int128* all, __int128* covered) {
    for (std::size_t i = begin; i < end; ++i) {
        const Derivatives d = loss.at(loss.moved(examples.state[i], factors.of(mask[i], examples.positive[i])));
        const auto copies = static_cast<int64_t>(examples.multiplicity[i]);
        const double sign = examples.positive[i] ? 1.0 : -1.0;
        const int64_t terms[3] = {rounded(sign * d.weight * grids.weight) * copies,
                                  rounded(d.curvature * grids.curvature) * copies,
                                  rounded(sign * d.slope * grids.curvature) * copies};
        for (int s = 0; s < 3; ++s) {
            all[s] += terms[s];
            if (mask[i]) covered[s] += terms[s];
        }
    }
}

struct ApplySums {
    int64_t weight = 0, curvature = 0, error = 0;
    double low = 0.0, high = 0.0;
};

/// Moves the states and leaves signed weights and curvatures; sums for unit or real sample weights.
template <class Loss>
PERMISSIBLE_CLONES void apply_plain(const Loss loss, const Examples& examples, const uint8_t* mask,
                                    const Factors factors, const Grids& grids, std::size_t begin, std::size_t end,
                                    const double* real_weight, ApplySums& sums) {
    int64_t weight = 0, curvature = 0, error = 0;
    const double weight_grid = grids.weight, curvature_grid = grids.curvature;
    double* state = examples.state;
    const uint8_t* positive = examples.positive;
    float* signed_weight = examples.signed_weight;
    float* curvatures = examples.curvature;
    double low = state[begin], high = state[begin];
    low = loss.moved(low, factors.of(mask[begin], positive[begin]));
    high = low;
    for (std::size_t i = begin; i < end; ++i) {
        const double moved = loss.moved(state[i], factors.of(mask[i], positive[i]));
        const Derivatives d = loss.at(moved);
        state[i] = moved;
        low = moved < low ? moved : low;
        high = moved > high ? moved : high;
        const double sample = real_weight != nullptr ? real_weight[i] : 1.0;
        const double w = sample * d.weight, k = sample * d.curvature;
        signed_weight[i] = static_cast<float>(positive[i] ? w : -w);
        if (curvatures != nullptr) curvatures[i] = static_cast<float>(k);
        weight += rounded(w * weight_grid);
        curvature += rounded(k * curvature_grid);
    }
    sums = {weight, curvature, error, low, high};
}

template <class Loss>
void losses_of(const Loss& loss, const double* state, std::size_t n, double* out) {
    if constexpr (std::is_same_v<Loss, Logistic>) {
        for (std::size_t i = 0; i < n; ++i) out[i] = fast_log(1.0 + 1.0 / state[i]);
    } else {
        for (std::size_t i = 0; i < n; ++i) out[i] = loss.value(state[i]);
    }
}

/// The loss and the misclassified weight of rows [begin, end), already moved.
template <class Loss>
PERMISSIBLE_CLONES void losses_plain(const Loss loss, const Examples& examples, double value_grid, double error_grid,
                                     std::size_t begin, std::size_t end, const double* real_weight, int64_t* sums) {
    int64_t value = 0, error = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const double sample = real_weight != nullptr ? real_weight[i] : 1.0;
        double one;
        if constexpr (std::is_same_v<Loss, Logistic>) {
            one = fast_log(1.0 + 1.0 / examples.state[i]);
        } else {
            one = loss.value(examples.state[i]);
        }
        value += rounded(sample * one * value_grid);
        const bool below = loss.negative(examples.state[i]);
        const bool tie = examples.state[i] == Loss::state_of(0.0) && !examples.positive[i];  // H = 0 predicts +1
        error += rounded((below || tie ? sample : 0.0) * error_grid);
    }
    sums[0] = value, sums[1] = error;
}

template <class Loss>
class Passes final : public LossPasses {
  public:
    explicit Passes(Loss loss) : loss_(loss) {}

    void measure(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin, std::size_t end,
                 Measured& sums) const override {
        const Factors factors(loss_, step);
        if (examples.mode == WeightMode::whole) {
            __int128 all[3] = {0, 0, 0}, covered[3] = {0, 0, 0};
            measure_whole(loss_, examples, step.mask, factors, grids, begin, end, all, covered);
            add(sums, all, covered);
            return;
        }
        int64_t all[3], covered[3];
        measure_plain(loss_, examples, step.mask, factors, grids, begin, end, examples.real_weight, all, covered);
        add(sums, all, covered);
    }

    void apply(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin, std::size_t end,
               Applied& sums) const override {
        ApplySums moved;
        apply_plain(loss_, examples, step.mask, Factors(loss_, step), grids, begin, end, examples.real_weight, moved);
        sums.low_state = std::min(sums.low_state, moved.low);
        sums.high_state = std::max(sums.high_state, moved.high);
        if (examples.mode == WeightMode::whole) {
            count_whole(examples, grids, begin, end, sums);
            return;
        }
        int64_t totals[2];
        losses_plain(loss_, examples, grids.value, grids.error, begin, end, examples.real_weight, totals);
        sums.weight += moved.weight;
        sums.curvature += moved.curvature;
        sums.value += totals[0];
        sums.error += totals[1];
    }

    Bounds bounds(double low_state, double high_state, double reach) const override {
        // The state grows or falls with the margin; `low` below is always the state of the smaller margin.
        const bool rising = Loss::state_of(1.0) > Loss::state_of(0.0);
        const double low = loss_.moved(rising ? low_state : high_state, loss_.factor(-reach));
        const double high = loss_.moved(rising ? high_state : low_state, loss_.factor(reach));
        return {std::max(std::fabs(loss_.at(low).weight), std::fabs(loss_.at(high).weight)),
                loss_.largest_curvature(low, high), std::max(loss_.value(low), loss_.value(high))};
    }

    double state_of(double margin) const override { return Loss::state_of(margin); }
    double margin_of(double state) const override { return Loss::margin_of(state); }
    double value_of(double margin) const override { return loss_.value(Loss::state_of(margin)); }
    void derivatives_of(double margin, double* three) const override {
        const Derivatives d = loss_.at(Loss::state_of(margin));
        three[0] = d.weight, three[1] = d.curvature, three[2] = d.slope;
    }
    bool smooth() const override { return Loss::smooth; }
    double cap() const override { return Loss::cap; }

  private:
    template <typename Integer>
    static void add(Measured& sums, const Integer* all, const Integer* covered) {
        for (int s = 0; s < 3; ++s) {
            sums.in[s] += covered[s];
            sums.out[s] += static_cast<__int128>(all[s]) - covered[s];
        }
    }

    void count_whole(const Examples& examples, const Grids& grids, std::size_t begin, std::size_t end,
                     Applied& sums) const {
        for (std::size_t i = begin; i < end; ++i) {
            const double state = examples.state[i];
            const Derivatives d = loss_.at(state);
            const auto copies = static_cast<int64_t>(examples.multiplicity[i]);
            double value;
            losses_of(loss_, &state, 1, &value);
            const bool tie = state == Loss::state_of(0.0) && !examples.positive[i];
            sums.weight += static_cast<__int128>(rounded(d.weight * grids.weight)) * copies;
            sums.curvature += static_cast<__int128>(rounded(d.curvature * grids.curvature)) * copies;
            sums.value += static_cast<__int128>(rounded(value * grids.value)) * copies;
            if (loss_.negative(state) || tie) sums.error += copies;
        }
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
