// Rows in memory: each operation is split into work items of a fixed size and merged by integer sums.
#include "rules/rows.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "common/parallel.hpp"

namespace permissible::rules {

bool same_rule(const RuleMask& a, const RuleMask& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
               return x.column == y.column && x.member == y.member;
           });
}

Rows::Rows(Codes codes, const uint8_t* positive, const double* sample_weight, bool whole, const Functor& loss,
           bool two_sums, int n_threads, const uint32_t* hashes, double* state, bool keeps)
    : codes_(codes),
      n_threads_(n_threads),
      two_sums_(two_sums),
      keeps_(keeps),
      hashes_(hashes),
      passes_(make_passes(loss)),
      own_state_(state == nullptr ? codes.rows : 0),
      state_(state == nullptr ? own_state_.data() : state),
      mask_(codes.rows) {
    if (!passes_) throw std::invalid_argument("no compiled loss of this name");
    examples_.n_rows = codes.rows;
    examples_.positive = positive;
    if (sample_weight != nullptr) {
        largest_sample_ = 0.0;
        for (std::size_t i = 0; i < codes.rows; ++i) {
            total_weight_ += sample_weight[i];  // only a scale: whole numbers add exactly
            largest_sample_ = std::max(largest_sample_, sample_weight[i]);
        }
        if (whole) {
            multiplicity_.assign(sample_weight, sample_weight + codes.rows);
            examples_.mode = WeightMode::whole;
            examples_.multiplicity = multiplicity_.data();
            largest_sample_ = 1.0;
        } else {
            examples_.mode = WeightMode::real;
            examples_.real_weight = sample_weight;
        }
    } else {
        total_weight_ = static_cast<double>(codes.rows);
    }
    ends_ = chunk_ends(codes.rows, examples_.multiplicity);
    examples_.state = state_;
}

template <class Work>
void Rows::over_rows(Work work) const {
    const std::size_t n_items = (codes_.rows + kPassRows - 1) / kPassRows;
    const int threads = resolve_threads(n_threads_, codes_.rows * 8);
    const auto one = [&](std::size_t item) { work(item * kPassRows, std::min(codes_.rows, (item + 1) * kPassRows)); };
    const bool serial = threads == 1 || n_items < 2;
    for (std::size_t item = 0; serial && item < n_items; ++item) one(item);
    if (serial) return;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t item = 0; item < n_items; ++item) one(item);
}

const uint8_t* Rows::mask_of(const RuleMask& rule) {
    if (masked_ && same_rule(rule, masked_rule_)) return mask_.data();
    // A rule that extends the masked one needs only its further literals.
    const bool further = masked_ && !masked_rule_.empty() && rule.size() > masked_rule_.size() &&
                         same_rule(masked_rule_, RuleMask(rule.begin(), rule.begin() + masked_rule_.size()));
    const std::size_t known = further ? masked_rule_.size() : 0;
    const RuleMask tested = joint_ ? joined(rule) : rule;
    const Codes& codes = joint_ ? joint_->codes() : codes_;
    masked_ = false;
    std::size_t covered = 0;
    over_rows([&](std::size_t begin, std::size_t end) {
        const std::size_t count = mask_rows(codes, tested, begin, end, mask_.data() + begin, known);
#pragma omp atomic
        covered += count;
    });
    covered_ = covered;
    masked_rule_ = rule;
    masked_ = true;
    return mask_.data();
}

namespace {

/// Weights computed from the states where they are needed: cheaper than writing them to memory and reading them back.
class StateWeights final : public WeightSource {
  public:
    StateWeights(const LossPasses& passes, const Examples& examples, bool pair, const HistogramRequest& request,
                 const uint32_t* hashes = nullptr)
        : passes_(passes), examples_(examples), pair_(pair) {
        draw = {hashes, request.threshold, request.seed};
        if (draw.sampled() && !hashes) throw std::invalid_argument("a sample needs hashes of the rows");
        weight_grid = request.weight_grid, curvature_grid = request.curvature_grid;
        copies = examples.multiplicity;
    }

    bool pair() const override { return pair_; }
    void floats(std::size_t begin, std::size_t n, float* weight, float* curvature) const override {
        passes_.floats(examples_, begin, n, weight, curvature);
        if (!pair_) std::fill_n(curvature, n, 0.0f);
    }
    void pack(std::size_t begin, std::size_t n, int64_t* out) const override {
        passes_.pack(examples_, begin, n, weight_grid, curvature_grid, pair_, out);
        if (copies != nullptr) repeat_packed(copies + begin, n, out);
    }

  private:
    const LossPasses& passes_;
    const Examples& examples_;
    bool pair_;
};

PERMISSIBLE_CLONES
int64_t covered_sum(const int64_t* values, const uint8_t* mask, std::size_t n) {
    int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += values[i] & -static_cast<int64_t>(mask[i]);
    return sum;
}

}  // namespace

void Rows::histogram_of(const RuleMask& prefix, const HistogramRequest& request, int64_t* sums) {
    if (keeps_ && request.threshold > 0.0) {
        if (!(request == searched_for_)) table(request);
        searched_for_ = request;
        return sum_table(prefix, sums);
    }
    RowChoice choice;
    if (!prefix.empty()) choice.mask = mask_of(prefix);
    const StateWeights weights(*passes_, examples_, two_sums_, request, hashes_);
    histogram(codes_, weights, choice, ends_, n_threads_, sums);
}

/// The rows of the sample that a rule covers: each literal divides the table of those before it.
void Rows::sum_table(const RuleMask& prefix, int64_t* sums) {
    const bool inside = true;
    for (std::size_t k = 0; k < prefix.size(); ++k) {
        if (k > 0) deeper(k).fill(deeper(k - 1), inside);
        deeper(k).divide(prefix[k]);
    }
    if (prefix.empty()) return deeper(0).sum(nullptr, sums);
    deeper(prefix.size() - 1).sum(&inside, sums);
}

RowTable& Rows::table(const HistogramRequest& request) {
    const StateWeights weights(*passes_, examples_, two_sums_, request, hashes_);
    RowTable& all = deeper(0);
    all.fill(joint_ ? joint_->codes() : codes_, weights, n_threads_, !keeps_);  // the sums of parts are added
    return all;
}

std::vector<int64_t> Rows::signed_weights_of(const std::vector<RuleMask>& rules, double weight_grid) const {
    const StateWeights weights(*passes_, examples_, false, {weight_grid});
    std::vector<int64_t> values(kChunkUnits), sums(rules.size(), 0);
    std::vector<uint8_t> mask(kChunkUnits);
    for (std::size_t begin = 0; begin < codes_.rows; begin += kChunkUnits) {
        const std::size_t n = std::min(kChunkUnits, codes_.rows - begin);
        weights.pack(begin, n, values.data());
        for (std::size_t t = 0; t < rules.size(); ++t) {
            const bool known = masked_ && same_rule(rules[t], masked_rule_);
            if (!known) mask_rows(codes_, rules[t], begin, begin + n, mask.data());
            sums[t] += covered_sum(values.data(), known ? mask_.data() + begin : mask.data(), n);
        }
    }
    return sums;
}

std::array<int64_t, 2> Rows::signed_weights_around(const RuleMask& rule, double weight_grid) {
    const StateWeights weights(*passes_, examples_, false, {weight_grid});
    const uint8_t* mask = mask_of(rule);
    int64_t inside = 0, all = 0;
    over_rows([&](std::size_t begin, std::size_t end) {
        std::array<int64_t, 2048> values;
        int64_t own_inside = 0, own = 0;
        for (; begin < end; begin += values.size()) {
            const std::size_t n = std::min(values.size(), end - begin);
            weights.pack(begin, n, values.data());
            own_inside += covered_sum(values.data(), mask + begin, n);
            own = std::accumulate(values.data(), values.data() + n, own);
        }
#pragma omp critical(permissible_around)
        inside += own_inside, all += own;
    });
    return {inside, all};
}

std::vector<Measured> Rows::measure(const RuleMask& rule, const std::vector<std::pair<double, double>>& trials,
                                    const Grids& grids) {
    const uint8_t* mask = mask_of(rule);
    std::vector<Step> steps;
    for (const auto& [value_in, value_out] : trials) steps.push_back({mask, value_in, value_out});
    std::vector<Measured> total(trials.size());
    over_rows([&](std::size_t begin, std::size_t end) {
        std::vector<Measured> own(trials.size());
        passes_->measure(examples_, steps, grids, begin, end, own);
#pragma omp critical(permissible_measure)
        for (std::size_t k = 0; k < trials.size(); ++k) total[k].add(own[k]);
    });
    return total;
}

StepSums Rows::apply(const RuleMask& rule, double value_in, double value_out, const Grids& grids) {
    const Step step{mask_of(rule), value_in, value_out};
    StepSums total;
    searched_for_ = {};
    over_rows([&](std::size_t begin, std::size_t end) {
        StepSums own;
        passes_->apply(examples_, step, grids, begin, end, own);
#pragma omp critical(permissible_apply)
        total.add(own);
    });
    return total;
}

StepSums Rows::restart(const double* score, double constant, const Grids& grids) {
    const double up = passes_->state_of(constant), down = passes_->state_of(-constant);
    for (std::size_t i = 0; i < codes_.rows; ++i) {
        if (score != nullptr) {
            state_[i] = passes_->state_of(examples_.positive[i] ? score[i] : -score[i]);
        } else {
            state_[i] = examples_.positive[i] ? up : down;
        }
    }
    return apply(RuleMask{}, 0.0, 0.0, grids);
}

StepSums Rows::reset(const std::vector<RuleMask>& rules, const double* coefficients, double constant,
                     const Grids& grids) {
    std::vector<double> score(codes_.rows, constant);
    for (std::size_t t = 0; t < rules.size(); ++t) {
        const uint8_t* mask = mask_of(rules[t]);
        for (std::size_t i = 0; i < score.size(); ++i) score[i] += mask[i] ? coefficients[t] : -coefficients[t];
    }
    return restart(rules.empty() ? nullptr : score.data(), constant, grids);
}

int64_t Rows::quantised_sample(std::size_t row, double grid) const {
    if (examples_.mode == WeightMode::none) return 1;
    if (examples_.mode == WeightMode::whole) return static_cast<int64_t>(multiplicity_[row]);
    return static_cast<int64_t>(std::nearbyint(examples_.real_weight[row] * grid));
}

}  // namespace permissible::rules
