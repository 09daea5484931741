// The two passes over the rows that know the loss: `measure` sums the derivatives of the surrogate at a trial step,
// `apply` takes the step and computes the weights of the next round. Every sum is an integer on a power-of-two grid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/grids.hpp"

namespace permissible::rules {

inline constexpr std::size_t kPassRows = 16384;  // rows of one work item

/// Whole: sample weights are integers, which count duplicated rows. Real: any positive numbers, multiplied in before
/// rounding.
enum class WeightMode { none, whole, real };

/// What the examples are: label (1 = positive), sample weight, and the state of the margin (margin.hpp).
struct Examples {
    std::size_t n_rows = 0;
    const uint8_t* positive = nullptr;
    WeightMode mode = WeightMode::none;
    const float* multiplicity = nullptr;
    const double* real_weight = nullptr;
    double* state = nullptr;
};

/// Values added to the score: on the rows that the rule covers and on the others. `mask` null covers every row.
struct Step {
    const uint8_t* mask = nullptr;
    double value_in = 0.0;
    double value_out = 0.0;
};

struct Grids {
    double weight = 1.0;
    double curvature = 1.0;
    double value = 1.0;
    double error = 1.0;  // of the sample weights themselves
};

/// Sums of `measure`, in then out: y w, curvature, y * slope of the curvature.
struct Measured {
    __int128 in[3] = {0, 0, 0};
    __int128 out[3] = {0, 0, 0};

    void add(const Measured& more) {
        for (int s = 0; s < 3; ++s) {
            in[s] += more.in[s];
            out[s] += more.out[s];
        }
    }
};

/// Sums of `apply`: over all rows the size of the weight, curvature, loss and misclassified sample weight; over the
/// covered rows the sample weight and that of positives; and the extreme states.
template <class Sum>
struct StepSumsOf {
    Sum weight = 0, curvature = 0, value = 0, error = 0, covered = 0, covered_positive = 0;
    double low_state = std::numeric_limits<double>::infinity(), high_state = -low_state;

    template <class Other>
    void add(const StepSumsOf<Other>& more) {
        weight += more.weight;
        curvature += more.curvature;
        value += more.value;
        error += more.error;
        covered += more.covered;
        covered_positive += more.covered_positive;
        low_state = std::min(low_state, more.low_state);
        high_state = std::max(high_state, more.high_state);
    }
};
using StepSums = StepSumsOf<__int128>;
using RunSums = StepSumsOf<int64_t>;  // of a run of rows

/// Bounds of weight, curvature and value over the states that a step of at most `reach` can lead to.
struct Bounds {
    double weight = 1.0, curvature = 1.0, value = 1.0;
};

/// A loss bound to its passes; one instance per built-in loss.
class LossPasses {
  public:
    virtual ~LossPasses() = default;
    /// At several steps along one rule, in one visit of the rows; one entry of `sums` for each.
    virtual void measure(const Examples& examples, const std::vector<Step>& steps, const Grids& grids,
                         std::size_t begin, std::size_t end, std::vector<Measured>& sums) const = 0;
    virtual void apply(const Examples& examples, const Step& step, const Grids& grids, std::size_t begin,
                       std::size_t end, StepSums& sums) const = 0;
    /// The weights of rows [begin, begin + n) as packed integers (histogram/packed.hpp), not yet times their integer
    /// weights.
    virtual void pack(const Examples& examples, std::size_t begin, std::size_t n, double weight_grid,
                      double curvature_grid, bool pair, int64_t* out) const = 0;
    /// The same in single precision.
    virtual void floats(const Examples& examples, std::size_t begin, std::size_t n, float* weight,
                        float* curvature) const = 0;
    virtual Bounds bounds(double low_state, double high_state, double reach) const = 0;
    virtual double state_of(double margin) const = 0;
    virtual double value_of(double margin) const = 0;
    virtual void derivatives_of(double margin, double* three) const = 0;
    /// The bound of the remainder of interpolation (rules/leverage.hpp); negative for a loss without one.
    virtual double remainder() const = 0;
    virtual double cap() const = 0;
    virtual bool attained() const = 0;
};

class LossTable;

/// Which loss: "logistic", "matsushita", "squared", "least_squares", "exponential", "logcosh" (parameter |zeta|),
/// "power" (parameter upsilon), or "table" (its table, and as parameter the cap of a step).
struct Functor {
    std::string name;
    double parameter = 0.0;
    std::shared_ptr<const LossTable> table = nullptr;
};

/// Null for any other name.
std::unique_ptr<LossPasses> make_passes(const Functor& loss);

}  // namespace permissible::rules
