// Scores of K classes with the logistic loss: the probabilities themselves are kept, in single precision, and a step
// multiplies them by the factors of a leaf. Eight classes at a time; see scores.hpp.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/parallel.hpp"
#include "trees/boosted/codes.hpp"
#include "trees/boosted/scores/scores.hpp"

namespace permissible::boosted {

namespace {

#pragma GCC diagnostic ignored "-Wpsabi"  // every function here is inlined: no vector crosses a call
typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));

constexpr float kLeastProbability = 1e-15f;

inline __attribute__((always_inline)) F8 load8(const float* from) {
    F8 value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline __attribute__((always_inline)) void store8(float* to, F8 value) { std::memcpy(to, &value, sizeof value); }
inline __attribute__((always_inline)) float total8(F8 v) {
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}
/// The nearest integers of numbers in [0, 2^22).
inline __attribute__((always_inline)) I8 rounded8(F8 value) {
    const F8 shifted = value + 12582912.0f;  // 1.5 * 2^23
    I8 bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4b400000;
}

struct MoveRows {
    std::size_t rows, width;  // of classes, a multiple of 8
    const uint16_t* target;
    const uint8_t* leaf;
    const float *factor, *signs;  // (leaves, width), (width)
    float *probability, *gradient, *curvature;
};

PERMISSIBLE_WIDE_CLONES
void move_rows(const MoveRows& m) {
    for (std::size_t i = 0; i < m.rows; ++i) {
        float* p = m.probability + i * m.width;
        const float* factor = m.factor + m.leaf[i] * m.width;
        F8 sums{};
        for (std::size_t k = 0; k < m.width; k += 8) {
            const F8 next = load8(p + k) * load8(factor + k);
            store8(p + k, next);
            sums += next;
        }
        const float scale = 1.0f / total8(sums);
        F8 projected{}, squares{};
        for (std::size_t k = 0; k < m.width; k += 8) {
            const F8 next = load8(p + k) * scale;
            const F8 kept = next > kLeastProbability ? next : F8{} + kLeastProbability;
            store8(p + k, kept);
            projected += kept * load8(m.signs + k);
            squares += kept * kept;
        }
        m.gradient[i] = m.signs[m.target[i]] - total8(projected);
        m.curvature[i] = std::max(1.0f - total8(squares), 0.0f);
    }
}

/// Sums of p and p^2 of each leaf and class, on a grid of 2^kSumBits: for at most kChunk rows they fit 32 bits.
PERMISSIBLE_WIDE_CLONES
void add_powers(const float* probability, const uint8_t* leaf, std::size_t n, std::size_t width, int32_t* first,
                int32_t* second) {
    constexpr float grid = 1 << kSumBits;
    for (std::size_t i = 0; i < n; ++i) {
        int32_t *a = first + leaf[i] * width, *b = second + leaf[i] * width;
        for (std::size_t k = 0; k < width; k += 8) {
            const F8 p = load8(probability + i * width + k);
            I8 x, y;
            std::memcpy(&x, a + k, sizeof x);
            std::memcpy(&y, b + k, sizeof y);
            x += rounded8(p * grid);
            y += rounded8(p * p * grid);
            std::memcpy(a + k, &x, sizeof x);
            std::memcpy(b + k, &y, sizeof y);
        }
    }
}

class SoftmaxScores final : public Scores {
  public:
    SoftmaxScores(const Labels& labels, std::size_t classes)
        : labels_(labels), classes_(classes), width_((classes + 7) / 8 * 8), probability_(labels.rows * width_) {
        for (std::size_t i = 0; i < labels.rows; ++i)
            for (std::size_t k = 0; k < width_; ++k)
                probability_[i * width_ + k] = k < classes ? 1.0f / static_cast<float>(classes) : 0.0f;
        gradient_.resize(labels.rows);
        curvature_.resize(labels.rows);
    }
    std::size_t outputs() const override { return classes_; }
    StepRule rule() const override { return {true, 1.0, 40.0, 2.0}; }
    std::vector<double> constant(const std::vector<double>& class_weight) const override {
        double all = 0.0;
        for (const double weight : class_weight) all += weight;
        std::vector<double> found;
        for (const double weight : class_weight) found.push_back(std::log(std::max(weight / all, 1e-6)));
        return found;
    }

    Extremes move(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step, std::size_t leaves,
                  const float* signs) override {
        std::vector<float> factor(leaves * width_, 0.0f), wide(width_, 0.0f);
        std::copy(signs, signs + classes_, wide.begin());
        for (std::size_t at = 0; at < leaves; ++at)
            for (std::size_t k = 0; k < classes_; ++k)
                factor[at * width_ + k] = static_cast<float>(std::exp(step[at * classes_ + k]));
        move_rows({end - begin, width_, labels_.target + begin, leaf + begin, factor.data(), wide.data(),
                   &probability_[begin * width_], &gradient_[begin], &curvature_[begin]});
        if (labels_.weight)
            for (std::size_t i = begin; i < end; ++i)
                gradient_[i] *= labels_.weight[i], curvature_[i] *= labels_.weight[i];
        return {1.0f, 1.0f};
    }

    void add_sums(std::size_t begin, std::size_t end, const uint8_t* leaf, const double*, std::size_t leaves,
                  LeafSums& sums) override {
        if (labels_.copies || labels_.weight) return add_weighted(begin, end, leaf, sums);
        std::vector<int32_t> first(leaves * width_), second(leaves * width_), count(leaves * width_);
        for (std::size_t at = begin; at < end; at += kChunk) {
            const std::size_t n = std::min(kChunk, end - at);
            add_powers(&probability_[at * width_], leaf + at, n, width_, first.data(), second.data());
            for (std::size_t i = at; i < at + n; ++i) ++count[leaf[i] * width_ + labels_.target[i]];
            flush(leaves, first, second, count, sums);
        }
    }

    __int128 loss(std::size_t begin, std::size_t end) const override {
        __int128 total = 0;
        for (std::size_t i = begin; i < end; ++i) {
            double value = -std::log(static_cast<double>(probability_[i * width_ + labels_.target[i]]));
            if (labels_.weight) value *= static_cast<double>(labels_.weight[i]);
            const auto whole = static_cast<int64_t>(std::nearbyint(std::clamp(value, 0.0, kLargestLoss) * kLossGrid));
            total += static_cast<__int128>(whole) * (labels_.copies ? labels_.copies[i] : 1);
        }
        return total;
    }

  private:
    /// G = (rows of the class) - sum of p and H = sum of p - sum of p^2.
    void flush(std::size_t leaves, std::vector<int32_t>& first, std::vector<int32_t>& second,
               std::vector<int32_t>& count, LeafSums& sums) const {
        for (std::size_t at = 0; at < leaves; ++at) {
            for (std::size_t k = 0; k < classes_; ++k) {
                const std::size_t from = at * width_ + k;
                const int64_t p = first[from], square = second[from], own = count[from];
                sums.gradient[at * classes_ + k] += (own << kSumBits) - p;
                sums.curvature[at * classes_ + k] += p - square;
            }
        }
        std::fill(first.begin(), first.end(), 0);
        std::fill(second.begin(), second.end(), 0);
        std::fill(count.begin(), count.end(), 0);
    }

    void add_weighted(std::size_t begin, std::size_t end, const uint8_t* leaf, LeafSums& sums) const {
        constexpr float grid = 1 << kSumBits;
        for (std::size_t i = begin; i < end; ++i) {
            const float scale = labels_.weight ? grid * labels_.weight[i] : grid;
            const int64_t times = labels_.copies ? labels_.copies[i] : 1;
            for (std::size_t k = 0; k < classes_; ++k) {
                const float p = probability_[i * width_ + k];
                const auto first = static_cast<int64_t>(std::nearbyintf(p * scale));
                const auto second = static_cast<int64_t>(std::nearbyintf(p * p * scale));
                const auto own = k == labels_.target[i] ? static_cast<int64_t>(std::nearbyintf(scale)) : 0;
                sums.gradient[leaf[i] * classes_ + k] += times * (own - first);
                sums.curvature[leaf[i] * classes_ + k] += times * (first - second);
            }
        }
    }

    Labels labels_;
    std::size_t classes_, width_;
    LargeVector<float> probability_;
};

}  // namespace

std::unique_ptr<Scores> make_softmax_scores(const Labels& labels, std::size_t classes) {
    return std::make_unique<SoftmaxScores>(labels, classes);
}

}  // namespace permissible::boosted
