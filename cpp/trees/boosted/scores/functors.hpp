// From the name of a loss to its functor, and what each lets be said of a step.
#pragma once

#include "losses/margin.hpp"
#include "losses/passes.hpp"
#include "trees/boosted/scores/scores.hpp"

namespace permissible::boosted {

/// The log-cosh family four rows at a time: 2 artanh(x) is a logarithm.
struct LogCoshLanes : rules::LogCosh {
    static constexpr bool in_lanes = true;
    double edge, log_cosh;  // tanh(zeta / 4) and ln cosh(zeta / 4)
    explicit LogCoshLanes(double parameter) : rules::LogCosh{{}, parameter}, edge(limit()) {
        log_cosh = 0.25 * zeta + std::log1p(std::exp(-0.5 * zeta)) - std::log(2.0);
    }
    template <class V>
    PERMISSIBLE_INLINE rules::Derivatives<V> at(V x) const {
        const V zero = Lanes<V>::all(0.0), one = Lanes<V>::all(1.0);
        const V above = one - within(x), under = one + within(x);
        const V w = 0.5 - fast_log(under / positive(above)) / zeta;
        const V k = smaller(2.0 / (zeta * positive(above * under)), Lanes<V>::all(kSteepest));
        const auto inside = below(magnitude(x), Lanes<V>::all(edge));
        const V beyond = select(below(x, zero), one, zero);
        return {select(inside, smaller(larger(w, zero), one), beyond), select(inside, k, zero), zero};
    }
    template <class V>
    PERMISSIBLE_INLINE V value(V x) const {
        const V zero = Lanes<V>::all(0.0), one = Lanes<V>::all(1.0), y = within(x);
        const V above = positive(one - y), under = positive(one + y);
        const V bent = (under * fast_log(under) + above * fast_log(above) + 2.0 * log_cosh) / zeta - 0.5 * y;
        const V beyond = select(below(x, zero), -x, zero);
        return select(below(magnitude(x), Lanes<V>::all(edge)), bent, beyond);
    }

  private:
    template <class V>
    PERMISSIBLE_INLINE V within(V x) const {
        return smaller(larger(x, Lanes<V>::all(-edge)), Lanes<V>::all(edge));
    }
    template <class V>
    static PERMISSIBLE_INLINE V positive(V x) {
        return larger(x, Lanes<V>::all(1e-300));
    }
};

/// Calls make(functor) for the loss of that name; null for an unknown one.
template <class Make>
std::unique_ptr<Scores> with_functor(const rules::Functor& loss, Make make) {
    using namespace rules;
    if (loss.name == "logistic") return make(Logistic{});
    if (loss.name == "matsushita") return make(Matsushita{});
    if (loss.name == "squared") return make(Squared{});
    if (loss.name == "least_squares") return make(LeastSquares{});
    if (loss.name == "exponential") return make(Exponential{});
    if (loss.name == "logcosh") return make(LogCoshLanes(loss.parameter));
    if (loss.name == "power") return make(Power{{}, loss.parameter});
    if (loss.name == "table" && loss.table)
        return make(Tabulated{{}, loss.table, loss.parameter, loss.parameter >= 1e8});
    return nullptr;
}

/// |k'| <= slope k holds with slope 1 for the logistic and exponential loss, 3/2 for Matsushita's, 0 for squares.
template <class Loss>
StepRule rule_of(const Loss& loss) {
    using namespace rules;
    StepRule rule;
    rule.bounded_slope = Loss::smooth;
    if constexpr (std::is_same_v<Loss, Matsushita>) rule.slope = 1.5;
    if constexpr (std::is_same_v<Loss, LeastSquares>) rule.slope = 0.0;
    rule.cap = loss.cap;
    return rule;
}

/// The zero of positive w(v) - negative w(-v), within the cap: the best constant for two weights of classes.
template <class Loss>
double best_constant(const Loss& loss, double positive, double negative) {
    double low = -loss.cap, high = loss.cap;
    for (int k = 0; k < 200 && low < high; ++k) {
        const double v = 0.5 * (low + high);
        const double pull =
            positive * loss.at(Loss::state_of(v)).weight - negative * loss.at(Loss::state_of(-v)).weight;
        if (v == low || v == high) break;
        (pull > 0.0 ? low : high) = v;
    }
    return 0.5 * (low + high);
}

}  // namespace permissible::boosted
