// Impurities of many sets of rows at once: one loop per phi, which the compiler vectorises.
#include "losses/impurity.hpp"

#include <algorithm>
#include <vector>

#include "common/lanes.hpp"

namespace permissible::trees {
namespace {

template <typename Function>
inline __attribute__((always_inline)) void binary_loop(const Function& f, const double* negative,
                                                       const double* positive, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = f(positive[i], negative[i]);
}

/// -(W+ log2 p + W- log2 (1 - p)), p = W+ / (W+ + W-); 0 when one of them is 0. libm's logarithm takes 15 ns, and its
/// vector variants do not promise the same bits at every position.
PERMISSIBLE_CLONES void entropy_loop(const double* negative, const double* positive, std::size_t count, double* out) {
    by_lanes<V4>(count, [=]<class V>(V, std::size_t i) __attribute__((always_inline)) {
        const V tiny = all<V>(1e-300), p = Lanes<V>::load(positive + i), n = Lanes<V>::load(negative + i);
        const V share_p = p / (p + n), share_n = n / (p + n);
        const V log_p = fast_log(share_p > tiny ? share_p : tiny), log_n = fast_log(share_n > tiny ? share_n : tiny);
        Lanes<V>::store(out + i, -(p * log_p + n * log_n) * 1.44269504088896340736);
    });
}
PERMISSIBLE_CLONES void matsushita_loop(const double* negative, const double* positive, std::size_t count,
                                        double* out) {
    binary_loop(Matsushita{}, negative, positive, count, out);
}
PERMISSIBLE_CLONES void squared_loop(const double* negative, const double* positive, std::size_t count, double* out) {
    binary_loop(Squared{}, negative, positive, count, out);
}

void user_loop(const UserPhi& user, const double* negative, const double* positive, std::size_t count, double* out) {
    std::vector<double> probability(count);
    for (std::size_t i = 0; i < count; ++i) probability[i] = positive[i] / (positive[i] + negative[i]);
    user(probability.data(), count, out);
    for (std::size_t i = 0; i < count; ++i) {
        const bool pure = positive[i] <= 0 || negative[i] <= 0;
        out[i] = pure ? 0.0 : (positive[i] + negative[i]) * out[i];
    }
}

void binary(const Impurity& impurity, const double* negative, const double* positive, std::size_t count, double* out) {
    switch (impurity.phi) {
        case Phi::entropy: return entropy_loop(negative, positive, count, out);
        case Phi::matsushita: return matsushita_loop(negative, positive, count, out);
        case Phi::squared: return squared_loop(negative, positive, count, out);
        case Phi::power: return binary_loop(Power{impurity.parameter}, negative, positive, count, out);
        case Phi::logcosh: return binary_loop(LogCosh{impurity.parameter}, negative, positive, count, out);
        case Phi::callback: return user_loop(impurity.user, negative, positive, count, out);
    }
}

}  // namespace

void impurities(const Impurity& impurity, const double* sums, std::size_t stride, int classes, std::size_t count,
                double* out) {
    if (count == 0) return;
    if (classes == 2) return binary(impurity, sums, sums + stride, count, out);
    // One class against the rest, laid end to end, so that a user's phi is called once.
    const std::size_t all = count * static_cast<std::size_t>(classes);
    std::vector<double> own(all), rest(all), value(all), total(count, 0.0);
    for (int c = 0; c < classes; ++c)
        for (std::size_t i = 0; i < count; ++i) total[i] += sums[c * stride + i];
    for (int c = 0; c < classes; ++c) {
        for (std::size_t i = 0; i < count; ++i) {
            own[c * count + i] = sums[c * stride + i];
            rest[c * count + i] = total[i] - sums[c * stride + i];
        }
    }
    binary(impurity, rest.data(), own.data(), all, value.data());
    std::fill(out, out + count, 0.0);
    for (int c = 0; c < classes; ++c)
        for (std::size_t i = 0; i < count; ++i) out[i] += value[c * count + i];
}

}  // namespace permissible::trees
