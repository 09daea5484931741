// See row_scores.hpp.
#include "mcboost/row_scores.hpp"

#include <algorithm>
#include <cmath>

#include "mcboost/row_passes.hpp"

namespace permissible::mcboost {

namespace {

/// The first class of the largest q; the padding is below all.
PERMISSIBLE_CLONES std::size_t first_largest(const double* q, std::size_t width) {
    V4 most{};
    for (std::size_t k = 0; k < width; k += 4) most = larger(most, Four::load(q + k));
    const double top = most4(most);
    std::size_t k = 0;
    while (q[k] != top) ++k;
    return k;
}

thread_local Moving spare;  // what the last rows of this thread gave back

}  // namespace

void StepSums::merge(const StepSums& other) {
    for (std::size_t k = 0; k < gradient.size(); ++k)
        gradient[k] += other.gradient[k], curvature[k] += other.curvature[k];
}

void MeasureSums::merge(const MeasureSums& other) {
    surrogate.merge(other.surrogate);
    cost.merge(other.cost);
    error.merge(other.error);
}

RowScores::RowScores(Loss loss, std::size_t classes, std::vector<uint16_t> target, const double* costs, bool shared,
                     const double* weight)
    : loss_(loss),
      classes_(classes),
      width_((classes + 3) / 4 * 4),
      shared_(shared),
      target_(std::move(target)),
      factor_((shared ? classes : target_.size()) * width_, 0.0) {
    make_room();
    const std::size_t n = target_.size(), described = factor_.size() / width_;
    for (std::size_t i = 0; i < described; ++i) {
        const std::size_t own = shared ? i : target_[i];
        for (std::size_t k = 0; k < classes; ++k)
            factor_[i * width_ + k] = k == own ? 0.0 : loss == Loss::mc ? 1.0 : costs[i * classes + k];
    }
    if (loss == Loss::mc) charged_.assign(costs, costs + described * classes);
    double most = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool whole = weight[i] == std::nearbyint(weight[i]) && weight[i] < 1048576.0;
        if (whole && weight[i] != 1.0 && copies_.empty()) copies_.assign(n, 1);
        if (!whole && weight_.empty()) weight_.assign(n, 1.0);
        if (whole && !copies_.empty()) copies_[i] = static_cast<int32_t>(weight[i]);
        if (!whole) weight_[i] = weight[i];
        most = std::max(most, whole ? 1.0 : weight[i]);
    }
    largest_weight_ = most;
    if (loss == Loss::ls) spread_.assign(n, static_cast<double>(classes));
    std::fill(q_.begin(), q_.end(), kLeast);
    for (std::size_t i = 0; i < n; ++i) std::fill_n(&q_[i * width_], classes, 1.0 / static_cast<double>(classes));
}

void RowScores::make_room() {
    const std::size_t n = rows();
    q_.resize(n * width_), spread_.resize(loss_ == Loss::ls ? n : 0);
    value_.resize(n), slope_.resize(n), bend_.resize(n), gradient_.resize(n), curvature_.resize(n);
}

void RowScores::set_scores(const double* scores) {
    for (std::size_t i = 0; i < rows(); ++i) {
        const double* from = scores + i * classes_;
        double mean = 0.0, top = from[0], sum = 0.0;
        for (std::size_t k = 0; k < classes_; ++k) mean += from[k], top = std::max(top, from[k]);
        mean /= static_cast<double>(classes_);
        double* q = &q_[i * width_];
        for (std::size_t k = 0; k < classes_; ++k) sum += q[k] = vexp(from[k] - top);
        for (std::size_t k = 0; k < classes_; ++k) q[k] = std::max(q[k] / sum, kLeast);
        if (loss_ == Loss::ls) spread_[i] = sum * vexp(top - mean);
    }
}

void RowScores::scores(double* out) const {
    for (std::size_t i = 0; i < rows(); ++i) {
        const double* q = &q_[i * width_];
        double* to = out + i * classes_;
        double mean = 0.0;
        for (std::size_t k = 0; k < classes_; ++k) mean += to[k] = fast_log(q[k]);
        mean /= static_cast<double>(classes_);
        for (std::size_t k = 0; k < classes_; ++k) to[k] -= mean;
    }
}

void RowScores::save(double* out) const {
    const std::size_t each = fields();
    for (std::size_t i = 0; i < rows(); ++i) {
        std::copy_n(&q_[i * width_], classes_, out + i * each);
        if (loss_ == Loss::ls) out[i * each + classes_] = spread_[i];
    }
}

void RowScores::restore(const double* in) {
    const std::size_t each = fields();
    if (q_.empty()) std::swap<Moving>(*this, spare);
    make_room();
    for (std::size_t i = 0; i < rows(); ++i) {
        std::fill(std::copy_n(in + i * each, classes_, &q_[i * width_]), &q_[i * width_] + width_, kLeast);
        if (loss_ == Loss::ls) spread_[i] = in[i * each + classes_];
    }
}

void RowScores::drop() {
    spare = std::move(static_cast<Moving&>(*this));
    static_cast<Moving&>(*this) = {};
}

std::vector<double> RowScores::factors(const double* step, std::size_t leaves) const {
    std::vector<double> found(leaves * width_, 1.0);
    for (std::size_t at = 0; at < leaves; ++at)
        for (std::size_t k = 0; k < classes_; ++k) found[at * width_ + k] = vexp(step[at * classes_ + k]);
    return found;
}

Terms RowScores::move(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* factor,
                      const Along& along) {
    Scratch scratch(width_);
    std::copy(along.weight.begin(), along.weight.end(), scratch.along.begin());
    return with_loss(loss_, [&]<Loss L>() {
        if constexpr (L == Loss::gll)
            return RowPasses<L>::move_log(*this, begin, end, leaf, factor, along.coordinate, scratch.along.data());
        else
            return RowPasses<L>::move(*this, begin, end, leaf, factor, along, scratch);
    });
}

void RowScores::add_sums(std::size_t begin, std::size_t end, const uint8_t* leaf, const Along& along,
                         double gradient_grid, double curvature_grid, StepSums& sums) const {
    Scratch scratch(width_);
    with_loss(loss_, [&]<Loss L>() {
        if (along.coordinate)
            RowPasses<L>::add_kept(*this, begin, end, leaf, gradient_grid, curvature_grid, sums);
        else if constexpr (L == Loss::gll)
            RowPasses<L>::add_log(*this, begin, end, leaf, gradient_grid, curvature_grid, sums);
        else
            RowPasses<L>::add(*this, begin, end, leaf, gradient_grid, curvature_grid, sums, scratch);
    });
}

void RowScores::measure(std::size_t begin, std::size_t end, MeasureSums& sums) const {
    for (std::size_t i = begin; i < end; ++i) {
        const double weight = weight_of(i);
        double value = value_[i];
        if (loss_ == Loss::gll) {  // log(1 + x) without losing x: Kahan's correction of log(u), u = 1 + x
            const double u = 1.0 + value;
            value = u == 1.0 ? value : value < 1e300 ? fast_log(u) * (value / (u - 1.0)) : std::log(value);
        }
        if (loss_ == Loss::mc) value += 1.0;
        sums.surrogate.add(value * weight, copies_of(i));
        const double* q = &q_[i * width_];
        const std::size_t best = first_largest(q, width_);
        if (best == target_[i]) continue;
        const std::size_t known = shared_ ? target_[i] : i;
        const double cost = loss_ == Loss::mc ? charged_[known * classes_ + best] : factor_[known * width_ + best];
        sums.error.add(weight, copies_of(i));
        sums.cost.add(weight * cost, copies_of(i));
    }
}

void RowScores::slopes(std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step, std::size_t leaves,
                       double alpha, LineSums& sums) const {
    with_loss(loss_, [&]<Loss L>() { RowPasses<L>::slopes(*this, begin, end, leaf, step, leaves, alpha, sums); });
}

}  // namespace permissible::mcboost
