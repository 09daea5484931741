// See fit.hpp.
#include "trees/boosted/fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/exact.hpp"

namespace permissible::boosted {

namespace {

constexpr std::size_t kSpan = 8 * kChunk;  // rows whose gradients stay in the second cache until they are drawn
constexpr double kSampleMost = 0.9;        // a larger fraction of the rows is not worth drawing

/// The power-of-two grid on which numbers up to `largest` take so many bits.
double term_grid(float largest, int bits) {
    if (!(largest > 0.0f) || !std::isfinite(largest)) return std::ldexp(1.0, bits);
    int exponent = 0;
    const float mantissa = std::frexp(largest, &exponent);
    return std::ldexp(1.0, bits - exponent + (mantissa == 0.5f));
}

class Boosting {
  public:
    Boosting(FitRows& rows, FitRows* held, const std::vector<Column>& columns, const FitOptions& options)
        : rows_(rows), held_(held), options_(options), grower_(columns, tree_options(options)) {
        const std::size_t n = rows.codes->rows();
        outputs_ = rows.scores->outputs();
        rows_.leaf.assign(n, 0);
        if (held_) held_->leaf.assign(held_->codes->rows(), 0);
        total_ = static_cast<double>(n);
        if (rows_.labels.copies) total_ = std::accumulate(rows_.labels.copies, rows_.labels.copies + n, 0.0);
        target_ = options.search_rows;
        sampled_ = target_ < kSampleMost * total_ && rows_.hash.size() == n;
        taken_.resize(std::max(1, options.threads));
        result_.outputs = outputs_;
    }

    FitResult run(const std::function<bool(int)>& watch) {
        start();
        for (int round = 0; round < options_.n_trees; ++round) {
            if (!watch(round)) return finish(Stop::callback);
            const Tree tree = grower_.grow(search_rows(), columns_of(round));
            if (tree.splits.empty() && !sampled_ && options_.column_fraction >= 1.0) return finish(Stop::no_gain);
            take(tree, steps_of(tree), round);
            if (no_longer_better(round + 1)) return finish(Stop::held_out);
        }
        return finish(Stop::rounds);
    }

  private:
    static TreeOptions tree_options(const FitOptions& options) {
        TreeOptions tree = options.tree;
        tree.l2 = options.step.l2;
        tree.threads = options.threads;
        return tree;
    }

    void start() {
        std::vector<double> step(outputs_, 0.0);
        move_rows(step.data(), 1, 0);
        if (options_.fit_constant) step = rows_.scores->constant(class_weights());
        result_.constant = step;
        if (sampled_) draw_.mu = first_mu();
        move_rows(step.data(), 1, 0);
        move_held(step.data(), 1);
        record();
    }

    std::vector<double> class_weights() const {
        const Labels& labels = rows_.labels;
        std::vector<Accumulator> sums(std::max<std::size_t>(outputs_, 2));
        if (labels.weight)
            for (std::size_t i = 0; i < labels.rows; ++i) sums[labels.target[i]].add(labels.weight[i]);
        std::vector<int64_t> count(sums.size(), 0);
        for (std::size_t i = 0; i < labels.rows; ++i) count[labels.target[i]] += labels.copies ? labels.copies[i] : 1;
        std::vector<double> found;
        for (std::size_t k = 0; k < sums.size(); ++k)
            found.push_back(labels.weight ? sums[k].value() : static_cast<double>(count[k]));
        return found;
    }

    std::vector<uint8_t> columns_of(int round) const {
        const std::size_t n = rows_.codes->columns();
        std::vector<uint8_t> used(n, 1);
        const auto wanted = static_cast<std::size_t>(std::ceil(options_.column_fraction * static_cast<double>(n)));
        if (wanted >= n) return used;
        std::vector<std::pair<uint32_t, std::size_t>> order(n);
        for (std::size_t j = 0; j < n; ++j) order[j] = {round_key(options_.seed ^ 0xC01u, round * n + j), j};
        std::sort(order.begin(), order.end());
        for (std::size_t k = wanted; k < n; ++k) used[order[k].second] = 0;
        return used;
    }

    std::vector<float> signs_of(int round) const {
        std::vector<float> signs(outputs_, 1.0f);
        if (outputs_ > 1)
            for (std::size_t k = 0; k < outputs_; ++k)
                signs[k] = round_key(options_.seed ^ 0x516u, round * outputs_ + k) & 1 ? 1.0f : -1.0f;
        return signs;
    }

    SearchRows search_rows() {
        SearchRows found;
        if (!sampled_) {
            packed_.pack(rows_.scores->gradient(), rows_.scores->curvature(), nullptr, rows_.labels.copies,
                         rows_.codes->rows());
            found.codes = rows_.codes;
        } else {
            Taken& all = taken_[0];
            for (std::size_t t = 1; t < taken_.size(); ++t) all.append(taken_[t]);
            sample_.gather(*rows_.codes, all.rows.data(), all.count, options_.threads);
            packed_.pack(all.gradient.data(), all.curvature.data(), all.rows.data(), rows_.labels.copies, all.count);
            found.codes = &sample_;
        }
        found.packed = packed_.data();
        found.gradient_grid = packed_.gradient_grid(), found.curvature_grid = packed_.curvature_grid();
        found.weight = packed_.weight();
        found.share = total_ > 0.0 ? found.weight / total_ : 1.0;
        result_.searched.push_back(static_cast<int64_t>(found.codes->rows()));
        return found;
    }

    void find_leaves_of(FitRows& rows, const Tree& tree) const {
        over_rows(rows.codes->rows(), options_.threads, [&](int, std::size_t begin, std::size_t end) {
            find_leaves(tree.splits.data(), tree.splits.size(), *rows.codes, rows.leaf.data(), begin, end);
        });
    }

    /// Sums at a step, or where the scores are; given a tree, the leaves of the rows are found first.
    LeafSums sums_at(const double* step, std::size_t leaves, const Tree* tree = nullptr) {
        const bool exact = options_.step.exact;
        const int bits = exact ? kExactBits : kSumBits;
        const LeafSums empty(leaves, outputs_, term_grid(extremes_.gradient, bits),
                             term_grid(extremes_.curvature, bits), exact);
        std::vector<LeafSums> parts(std::max(1, options_.threads), empty);
        over_rows(rows_.codes->rows(), options_.threads, [&](int thread, std::size_t begin, std::size_t end) {
            if (tree) find_leaves(tree->splits.data(), leaves - 1, *rows_.codes, rows_.leaf.data(), begin, end);
            rows_.scores->add_sums(begin, end, rows_.leaf.data(), step, leaves, parts[thread]);
        });
        for (std::size_t t = 1; t < parts.size(); ++t) parts[0].merge(parts[t]);
        return parts[0];
    }

    std::vector<double> steps_of(const Tree& tree) {
        const std::size_t leaves = tree.leaves();
        const SumsAt at = [&](const double* tried) { return sums_at(tried, leaves); };
        const LeafSums here = sums_at(nullptr, leaves, &tree);
        std::vector<double> step = find_steps(here, at, rows_.scores->rule(), options_.step);
        // A monotone tree's leaves are ordered by bounds between them.
        for (std::size_t i = 0; i < tree.low.size() && outputs_ == 1; ++i)
            step[i] = std::clamp(step[i], options_.step.learning_rate * tree.low[i],
                                 options_.step.learning_rate * tree.high[i]);
        return step;
    }

    void take(const Tree& tree, const std::vector<double>& step, int round) {
        result_.splits.insert(result_.splits.end(), tree.splits.begin(), tree.splits.end());
        result_.first_split.push_back(static_cast<int32_t>(result_.splits.size()));
        result_.values.insert(result_.values.end(), step.begin(), step.end());
        move_rows(step.data(), tree.leaves(), round + 1);
        if (held_) find_leaves_of(*held_, tree);
        move_held(step.data(), tree.leaves());
        record();
    }

    /// Takes the step and draws the rows that the next round searches.
    void move_rows(const double* step, std::size_t leaves, int next_round) {
        const std::vector<float> signs = signs_of(next_round);
        std::vector<Extremes> extremes(taken_.size());
        for (Taken& taken : taken_) taken.clear();
        draw_.gradient = rows_.scores->gradient(), draw_.curvature = rows_.scores->curvature();
        draw_.copies = rows_.labels.copies, draw_.hash = rows_.hash.data();
        draw_.key = round_key(options_.seed, next_round);
        over_rows(rows_.codes->rows(), options_.threads, [&](int thread, std::size_t begin, std::size_t end) {
            for (std::size_t at = begin; at < end; at += kSpan) {
                const std::size_t last = std::min(end, at + kSpan);
                extremes[thread].merge(rows_.scores->move(at, last, rows_.leaf.data(), step, leaves, signs.data()));
                if (sampled_) take_rows(draw_, at, last, taken_[thread]);
            }
        });
        extremes_ = {};
        for (const Extremes& part : extremes) extremes_.merge(part);
        if (sampled_) steer();
    }

    /// The next round's mu, from how many rows this one took.
    void steer() {
        int64_t count = 0;
        for (const Taken& taken : taken_) count += taken.weight;
        const double ratio = std::clamp(static_cast<double>(count) / target_, 0.5, 2.0);
        draw_.mu = static_cast<float>(static_cast<double>(draw_.mu) * ratio);
    }

    float first_mu() {
        const float largest = 1.1f * std::max(extremes_.gradient, extremes_.curvature) * static_cast<float>(outputs_);
        const int64_t sum = sum_of_sizes(draw_, 0, rows_.codes->rows(), largest);
        int exponent = 0;
        const float mantissa = std::frexp(largest, &exponent);
        const double grid = std::ldexp(1.0, 20 - exponent + (mantissa == 0.5f));
        return static_cast<float>(std::max(static_cast<double>(sum) / grid / target_, 1e-30));
    }

    void move_held(const double* step, std::size_t leaves) {
        if (!held_) return;
        const std::vector<float> signs(outputs_, 1.0f);
        over_rows(held_->codes->rows(), options_.threads, [&](int, std::size_t begin, std::size_t end) {
            held_->scores->move(begin, end, held_->leaf.data(), step, leaves, signs.data());
        });
    }

    __int128 loss_of(const FitRows& rows) const {
        std::vector<__int128> parts(std::max(1, options_.threads), 0);
        over_rows(rows.codes->rows(), options_.threads, [&](int thread, std::size_t begin, std::size_t end) {
            parts[thread] = rows.scores->loss(begin, end);
        });
        return std::accumulate(parts.begin(), parts.end(), __int128{0});
    }

    void record() {
        if (options_.track_loss) result_.loss.push_back(static_cast<double>(loss_of(rows_)) / kLossGrid);
        if (held_) result_.held_out.push_back(static_cast<double>(loss_of(*held_)) / kLossGrid);
    }

    bool no_longer_better(int trees) {
        if (!held_) {
            result_.best_round = trees;
            return false;
        }
        if (result_.held_out[trees] < result_.held_out[result_.best_round]) result_.best_round = trees;
        return options_.patience > 0 && trees - result_.best_round >= options_.patience;
    }

    FitResult finish(Stop stop) {
        result_.stop = stop;
        return std::move(result_);
    }

    FitRows& rows_;
    FitRows* held_;
    const FitOptions& options_;
    Grower grower_;
    FitResult result_;
    std::size_t outputs_ = 1;
    double total_ = 0.0, target_ = 0.0;
    bool sampled_ = false;
    Draw draw_;
    std::vector<Taken> taken_;
    Codes sample_;
    PackedRows packed_;
    Extremes extremes_;
};

}  // namespace

FitResult fit(FitRows& rows, FitRows* held_out, const std::vector<Column>& columns, const FitOptions& options,
              const std::function<bool(int)>& watch) {
    return Boosting(rows, held_out, columns, options).run(watch);
}

}  // namespace permissible::boosted
