// Scores of two classes, four rows at a time; see scores.hpp. A functor's state stands for the margin y H(x).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/parallel.hpp"
#include "trees/boosted/codes.hpp"
#include "trees/boosted/scores/functors.hpp"

namespace permissible::boosted {

namespace {

using rules::Derivatives;

constexpr float kLargestTerm = 1 << kSumBits;

/// Factors of the steps of each leaf: [0] of negative, [1] of positive rows.
struct LeafFactors {
    double of[2][256];
    template <class Loss>
    LeafFactors(const Loss& loss, const double* step, std::size_t leaves) {
        for (std::size_t k = 0; k < leaves; ++k) of[0][k] = loss.factor(-step[k]), of[1][k] = loss.factor(step[k]);
    }
    void spread(const uint16_t* target, const uint8_t* leaf, std::size_t n, double* out) const {
        for (std::size_t i = 0; i < n; ++i) out[i] = of[target[i]][leaf[i]];
    }
};

template <class V>
inline __attribute__((always_inline)) void store_single(float* to, V value) {
    if constexpr (Lanes<V>::count == 1) {
        *to = static_cast<float>(value);
    } else {
        typedef float Four __attribute__((vector_size(16)));
        const Four four = __builtin_convertvector(value, Four);
        std::memcpy(to, &four, sizeof four);
    }
}

/// w and k of n states, signs and weights not yet applied; states are stored where they were moved.
template <class V, class Loss>
inline __attribute__((always_inline)) std::size_t derive(const Loss& loss, const double* state, const double* factor,
                                                         double* moved, std::size_t i, std::size_t n, float* w,
                                                         float* k) {
    using L = Lanes<V>;
    for (; i + L::count <= n; i += L::count) {
        V now = L::load(state + i);
        if (factor) now = loss.moved(now, L::load(factor + i));
        if (moved) L::store(moved + i, now);
        const Derivatives<V> d = loss.at(now);
        store_single(w + i, d.weight);
        store_single(k + i, d.curvature);
    }
    return i;
}

template <class Loss>
PERMISSIBLE_WIDE_CLONES void derive_rows(const Loss& loss, const double* state, const double* factor, double* moved,
                                         std::size_t n, float* w, float* k) {
    std::size_t i = 0;
    if constexpr (Loss::in_lanes) i = derive<V4>(loss, state, factor, moved, i, n, w, k);
    derive<double>(loss, state, factor, moved, i, n, w, k);
}

template <class V, class Loss>
inline __attribute__((always_inline)) std::size_t evaluate(const Loss& loss, const double* state, std::size_t i,
                                                           std::size_t n, double* value) {
    for (; i + Lanes<V>::count <= n; i += Lanes<V>::count)
        Lanes<V>::store(value + i, loss.value(Lanes<V>::load(state + i)));
    return i;
}

template <class Loss>
PERMISSIBLE_WIDE_CLONES void evaluate_rows(const Loss& loss, const double* state, std::size_t n, double* value) {
    std::size_t i = 0;
    if constexpr (Loss::in_lanes) i = evaluate<V4>(loss, state, i, n, value);
    evaluate<double>(loss, state, i, n, value);
}

/// The largest loss of n rows whose sum on the grid is found without branches.
constexpr double kLargestInLanes = 16384.0;

/// The sum of n losses on the grid, where none is larger than that.
PERMISSIBLE_WIDE_CLONES
int64_t sum_on_grid(const double* value, std::size_t n) {
    int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += rounded(value[i] * kLossGrid);
    return sum;
}

PERMISSIBLE_WIDE_CLONES
double largest_of(const double* value, std::size_t n) {
    double most = 0.0;
    for (std::size_t i = 0; i < n; ++i) most = most < value[i] ? value[i] : most;
    return most;
}

/// Signs and real weights.
PERMISSIBLE_WIDE_CLONES
void sign_and_weigh(const uint16_t* target, const float* weight, std::size_t n, float* g, float* h) {
    if (weight)
        for (std::size_t i = 0; i < n; ++i) g[i] *= weight[i], h[i] *= weight[i];
    for (std::size_t i = 0; i < n; ++i) g[i] = target[i] ? g[i] : -g[i];
}

/// Integers of n numbers: gradient in the upper half, curvature in the lower. A step that is tried may lead to numbers
/// larger than those that the grids are for: they are cut, which keeps signs.
PERMISSIBLE_WIDE_CLONES
void pack(const float* g, const float* h, float g_grid, float h_grid, std::size_t n, int64_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const float x = g[i] * g_grid, y = h[i] * h_grid;
        const float upper = x < kLargestTerm ? x : kLargestTerm, cut = upper > -kLargestTerm ? upper : -kLargestTerm;
        const auto a = static_cast<int32_t>(std::nearbyintf(cut));
        const auto b = static_cast<int32_t>(std::nearbyintf(y < kLargestTerm ? y : kLargestTerm));
        out[i] = (static_cast<int64_t>(a) << 32) + b;
    }
}

/// The same, not packed: with copies, or more bits.
void add_wide(const float* g, const float* h, const int32_t* copies, const uint8_t* leaf, std::size_t n,
              LeafSums& sums) {
    const double most = sums.exact ? std::ldexp(1.0, kExactBits + 6) : static_cast<double>(kLargestTerm);
    for (std::size_t i = 0; i < n; ++i) {
        const double a = std::clamp(static_cast<double>(g[i]) * sums.gradient_grid, -most, most);
        const double b = std::min(static_cast<double>(h[i]) * sums.curvature_grid, most);
        const int64_t times = copies ? copies[i] : 1;
        sums.gradient[leaf[i]] += times * static_cast<int64_t>(std::nearbyint(a));
        sums.curvature[leaf[i]] += times * static_cast<int64_t>(std::nearbyint(b));
    }
}

void add_packed(const float* g, const float* h, const uint8_t* leaf, std::size_t n, std::size_t leaves,
                LeafSums& sums) {
    int64_t values[kChunk], cells[4][256];
    for (auto& part : cells) std::memset(part, 0, sizeof(int64_t) * leaves);
    pack(g, h, static_cast<float>(sums.gradient_grid), static_cast<float>(sums.curvature_grid), n, values);
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int part = 0; part < 4; ++part) cells[part][leaf[i + part]] += values[i + part];
    for (; i < n; ++i) cells[0][leaf[i]] += values[i];
    for (std::size_t k = 0; k < leaves; ++k) {
        const int64_t sum = cells[0][k] + cells[1][k] + cells[2][k] + cells[3][k];
        sums.gradient[k] += sum >> 32;
        sums.curvature[k] += sum & 0xffffffffLL;
    }
}

template <class Loss>
class BinaryScores final : public Scores {
  public:
    BinaryScores(Loss loss, const Labels& labels) : loss_(std::move(loss)), labels_(labels) {
        state_.assign(labels.rows, Loss::state_of(0.0));
        gradient_.resize(labels.rows);
        curvature_.resize(labels.rows);
        tried_.resize((labels.rows + kChunk - 1) / kChunk);
    }
    std::size_t outputs() const override { return 1; }
    StepRule rule() const override { return rule_of(loss_); }
    std::vector<double> constant(const std::vector<double>& class_weight) const override {
        return {best_constant(loss_, class_weight[1], class_weight[0])};
    }

    Extremes move(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step, std::size_t leaves,
                  const float*) override {
        const LeafFactors factors(loss_, step, leaves);
        Extremes found;
        double factor[kChunk];
        for (std::size_t at = begin; at < end; at += kChunk) {
            const std::size_t n = std::min(kChunk, end - at);
            float *g = gradient_.data() + at, *h = curvature_.data() + at;
            double* state = state_.data() + at;
            factors.spread(labels_.target + at, leaf + at, n, factor);
            if (Tried& tried = tried_[at / kChunk]; tried.is(step, leaves)) {
                for (std::size_t i = 0; i < n; ++i) state[i] = loss_.moved(state[i], factor[i]);
                std::copy_n(tried.gradient.data(), n, g);
                std::copy_n(tried.curvature.data(), n, h);
                found.merge(tried.extremes);
                tried.step.clear();
                continue;
            }
            derive_rows(loss_, state, factor, state, n, g, h);
            sign_and_weigh(labels_.target + at, weight(at), n, g, h);
            found.merge(extremes_of(g, h, n));
        }
        return found;
    }

    void add_sums(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step, std::size_t leaves,
                  LeafSums& sums) override {
        const bool wide = sums.exact || labels_.copies != nullptr;
        for (std::size_t at = begin; at < end; at += kChunk) {
            const std::size_t n = std::min(kChunk, end - at);
            const float *g = gradient_.data() + at, *h = curvature_.data() + at;
            if (step) {
                const Tried& tried = try_step(at, n, leaf + at, step, leaves);
                g = tried.gradient.data(), h = tried.curvature.data();
            }
            if (wide)
                add_wide(g, h, labels_.copies ? labels_.copies + at : nullptr, leaf + at, n, sums);
            else
                add_packed(g, h, leaf + at, n, leaves, sums);
        }
    }

    __int128 loss(std::size_t begin, std::size_t end) const override {
        __int128 total = 0;
        double value[kChunk];
        for (std::size_t at = begin; at < end; at += kChunk) {
            const std::size_t n = std::min(kChunk, end - at);
            evaluate_rows(loss_, state_.data() + at, n, value);
            if (!labels_.weight && !labels_.copies && largest_of(value, n) <= kLargestInLanes)
                total += sum_on_grid(value, n);
            else
                total += weighted_loss(at, n, value);
        }
        return total;
    }

  private:
    /// The derivatives of a chunk at a step that was tried: the step that is then taken is the last of them.
    struct Tried {
        std::vector<double> step;
        std::vector<float> gradient, curvature;
        Extremes extremes;
        bool is(const double* other, std::size_t leaves) const {
            return step.size() == leaves && std::equal(step.begin(), step.end(), other);
        }
    };
    const Tried& try_step(std::size_t at, std::size_t n, const uint8_t* leaf, const double* step, std::size_t leaves) {
        Tried& tried = tried_[at / kChunk];
        tried.gradient.resize(n), tried.curvature.resize(n), tried.step.assign(step, step + leaves);
        double factor[kChunk];
        float *g = tried.gradient.data(), *h = tried.curvature.data();
        LeafFactors(loss_, step, leaves).spread(labels_.target + at, leaf, n, factor);
        derive_rows(loss_, state_.data() + at, factor, static_cast<double*>(nullptr), n, g, h);
        sign_and_weigh(labels_.target + at, weight(at), n, g, h);
        tried.extremes = extremes_of(g, h, n);
        return tried;
    }
    __int128 weighted_loss(std::size_t at, std::size_t n, const double* values) const {
        __int128 total = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double value = labels_.weight ? values[i] * static_cast<double>(labels_.weight[at + i]) : values[i];
            const auto whole = static_cast<int64_t>(std::nearbyint(std::min(value, kLargestLoss) * kLossGrid));
            total += static_cast<__int128>(whole) * (labels_.copies ? labels_.copies[at + i] : 1);
        }
        return total;
    }
    const float* weight(std::size_t at) const { return labels_.weight ? labels_.weight + at : nullptr; }

    Loss loss_;
    Labels labels_;
    LargeVector<double> state_;
    std::vector<Tried> tried_;  // of each chunk
};

}  // namespace

PERMISSIBLE_WIDE_CLONES
Extremes extremes_of(const float* gradient, const float* curvature, std::size_t n) {
    int32_t most_g = 0, most_h = 0;  // sizes of floats order as the integers of their bits
    for (std::size_t i = 0; i < n; ++i) {
        most_g = std::max(most_g, std::bit_cast<int32_t>(gradient[i]) & 0x7fffffff);
        most_h = std::max(most_h, std::bit_cast<int32_t>(curvature[i]) & 0x7fffffff);
    }
    return {std::bit_cast<float>(most_g), std::bit_cast<float>(most_h)};
}

std::unique_ptr<Scores> make_binary_scores(const rules::Functor& loss, const Labels& labels) {
    return with_functor(loss, [&](auto functor) -> std::unique_ptr<Scores> {
        return std::make_unique<BinaryScores<decltype(functor)>>(std::move(functor), labels);
    });
}

}  // namespace permissible::boosted
