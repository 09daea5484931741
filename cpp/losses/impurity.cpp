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

/// Shannon's entropy of all classes, -sum_c W_c log2 (W_c / W).
PERMISSIBLE_CLONES void joint_entropy_loop(const double* own, const double* total, int classes, std::size_t count,
                                           double* out) {
    by_lanes<V4>(count, [=]<class V>(V, std::size_t i) __attribute__((always_inline)) {
        const V tiny = all<V>(1e-300), weight = Lanes<V>::load(total + i);
        V sum = all<V>(0.0);
        for (int c = 0; c < classes; ++c) {
            const V n = Lanes<V>::load(own + static_cast<std::size_t>(c) * count + i), share = n / weight;
            sum = sum - n * fast_log(share > tiny ? share : tiny);
        }
        Lanes<V>::store(out + i, sum * 1.44269504088896340736);
    });
}

/// `own` and `rest` become v and u of each class: what missing it costs, and what predicting it costs.
void charge(const std::vector<double>& costs, int classes, std::size_t count, std::vector<double>& own,
            std::vector<double>& rest) {
    const std::vector<double> weight = own;
    std::fill(rest.begin(), rest.end(), 0.0);
    for (int j = 0; j < classes; ++j) {
        double mean = 0.0;
        for (int k = 0; k < classes; ++k) {
            if (k == j) continue;
            const double cost = costs[j * classes + k];
            mean += cost;
            for (std::size_t i = 0; i < count; ++i) rest[k * count + i] += cost * weight[j * count + i];
        }
        mean /= classes - 1;
        for (std::size_t i = 0; i < count; ++i) own[j * count + i] = mean * weight[j * count + i];
    }
}

}  // namespace

void impurities(const Impurity& impurity, const double* sums, std::size_t stride, int classes, std::size_t count,
                double* out) {
    if (count == 0) return;
    const bool charged = !impurity.costs.empty();
    if (classes == 2 && !charged) return binary(impurity, sums, sums + stride, count, out);
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
    if (impurity.joint && impurity.phi == Phi::entropy && !charged)
        return joint_entropy_loop(own.data(), total.data(), classes, count, out);
    if (charged) charge(impurity.costs, classes, count, own, rest);
    binary(impurity, rest.data(), own.data(), all, value.data());
    std::fill(out, out + count, 0.0);
    for (int c = 0; c < classes; ++c)
        for (std::size_t i = 0; i < count; ++i)
            out[i] += own[c * count + i] > 0 && rest[c * count + i] > 0 ? value[c * count + i] : 0.0;
    if (charged)
        for (std::size_t i = 0; i < count; ++i) out[i] *= 0.5;
}

}  // namespace permissible::trees
