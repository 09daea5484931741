// Scores of K classes, each against the others, with a functor of two classes; four classes at a time. See scores.hpp.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/parallel.hpp"
#include "trees/boosted/codes.hpp"
#include "trees/boosted/scores/functors.hpp"

namespace permissible::boosted {

namespace {

using rules::Derivatives;

/// w and k of `n` classes of one row, whose states are moved first where factors are given.
template <class V, class Loss>
inline __attribute__((always_inline)) std::size_t derive(const Loss& loss, const double* state, const double* factor,
                                                         double* moved, std::size_t k, std::size_t n, double* weight,
                                                         double* curvature) {
    using L = Lanes<V>;
    for (; k + L::count <= n; k += L::count) {
        V now = L::load(state + k);
        if (factor) now = loss.moved(now, L::load(factor + k));
        if (moved) L::store(moved + k, now);
        const Derivatives<V> d = loss.at(now);
        L::store(weight + k, d.weight);
        L::store(curvature + k, d.curvature);
    }
    return k;
}

template <class Loss>
PERMISSIBLE_CLONES void derive_row(const Loss& loss, const double* state, const double* factor, double* moved,
                                   std::size_t n, double* weight, double* curvature) {
    std::size_t k = 0;
    if constexpr (Loss::in_lanes) k = derive<V4>(loss, state, factor, moved, k, n, weight, curvature);
    derive<double>(loss, state, factor, moved, k, n, weight, curvature);
}

template <class Loss>
class ClassScores final : public Scores {
  public:
    ClassScores(Loss loss, const Labels& labels, std::size_t classes)
        : loss_(std::move(loss)), labels_(labels), classes_(classes) {
        state_.assign(labels.rows * classes, Loss::state_of(0.0));
        gradient_.resize(labels.rows);
        curvature_.resize(labels.rows);
    }
    std::size_t outputs() const override { return classes_; }
    StepRule rule() const override { return rule_of(loss_); }
    std::vector<double> constant(const std::vector<double>& class_weight) const override {
        double all = 0.0;
        for (const double weight : class_weight) all += weight;
        std::vector<double> found;
        for (const double weight : class_weight) found.push_back(best_constant(loss_, weight, all - weight));
        return found;
    }

    Extremes move(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step, std::size_t leaves,
                  const float* signs) override {
        Row row(*this, step, leaves);
        Extremes found;
        for (std::size_t i = begin; i < end; ++i) {
            double* state = &state_[i * classes_];
            row.derive(i, leaf[i], state);
            double g = 0.0, h = 0.0, most_g = 0.0, most_h = 0.0;
            for (std::size_t k = 0; k < classes_; ++k) {
                const double size = row.weight[k] * static_cast<double>(signs[k]);
                g += k == labels_.target[i] ? size : -size;
                h += row.curvature[k];
                most_g = std::max(most_g, std::fabs(row.weight[k])), most_h = std::max(most_h, row.curvature[k]);
            }
            const double weight = labels_.weight ? static_cast<double>(labels_.weight[i]) : 1.0;
            gradient_[i] = static_cast<float>(g * weight), curvature_[i] = static_cast<float>(h * weight);
            found.merge({static_cast<float>(most_g * weight), static_cast<float>(most_h * weight)});
        }
        return found;
    }

    void add_sums(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step, std::size_t leaves,
                  LeafSums& sums) override {
        Row row(*this, step, leaves);
        const double most = std::ldexp(1.0, kExactBits + 6);
        for (std::size_t i = begin; i < end; ++i) {
            row.derive(i, leaf[i], nullptr);
            const double weight = labels_.weight ? static_cast<double>(labels_.weight[i]) : 1.0;
            const int64_t times = labels_.copies ? labels_.copies[i] : 1;
            for (std::size_t k = 0; k < classes_; ++k) {
                const double g = std::clamp(row.weight[k] * weight * sums.gradient_grid, -most, most);
                const double h = std::min(row.curvature[k] * weight * sums.curvature_grid, most);
                const int64_t signed_g = static_cast<int64_t>(std::nearbyint(k == labels_.target[i] ? g : -g));
                sums.gradient[leaf[i] * classes_ + k] += times * signed_g;
                sums.curvature[leaf[i] * classes_ + k] += times * static_cast<int64_t>(std::nearbyint(h));
            }
        }
    }

    __int128 loss(std::size_t begin, std::size_t end) const override {
        __int128 total = 0;
        for (std::size_t i = begin; i < end; ++i) {
            double value = 0.0;
            for (std::size_t k = 0; k < classes_; ++k) value += loss_.value(state_[i * classes_ + k]);
            if (labels_.weight) value *= static_cast<double>(labels_.weight[i]);
            const auto whole = static_cast<int64_t>(std::nearbyint(std::min(value, kLargestLoss) * kLossGrid));
            total += static_cast<__int128>(whole) * (labels_.copies ? labels_.copies[i] : 1);
        }
        return total;
    }

  private:
    /// The derivatives of one row, and the factors of all leaves.
    struct Row {
        Row(const ClassScores& scores, const double* step, std::size_t leaves)
            : of(scores), weight(scores.classes_), curvature(scores.classes_), factor(scores.classes_) {
            if (!step) return;
            for (std::size_t k = 0; k < leaves * of.classes_; ++k) {
                against.push_back(of.loss_.factor(-step[k]));
                own.push_back(of.loss_.factor(step[k]));
            }
        }
        void derive(std::size_t i, uint8_t leaf, double* moved) {
            const double* factors = nullptr;
            if (!own.empty()) {
                const std::size_t at = leaf * of.classes_, label = of.labels_.target[i];
                std::copy(&against[at], &against[at] + of.classes_, factor.begin());
                factor[label] = own[at + label];
                factors = factor.data();
            }
            derive_row(of.loss_, &of.state_[i * of.classes_], factors, moved, of.classes_, weight.data(),
                       curvature.data());
        }
        const ClassScores& of;
        std::vector<double> weight, curvature, factor, against, own;
    };

    Loss loss_;
    Labels labels_;
    std::size_t classes_;
    LargeVector<double> state_;
};

}  // namespace

std::unique_ptr<Scores> make_class_scores(const rules::Functor& loss, const Labels& labels, std::size_t classes) {
    return with_functor(loss, [&](auto functor) -> std::unique_ptr<Scores> {
        return std::make_unique<ClassScores<decltype(functor)>>(std::move(functor), labels, classes);
    });
}

}  // namespace permissible::boosted
