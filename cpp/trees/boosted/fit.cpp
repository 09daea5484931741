// See fit.hpp.
#include "trees/boosted/fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/exact.hpp"

namespace permissible::boosted {

namespace {

constexpr int kFewTrees = 16;        // a curve of fewer trees says nothing yet
constexpr double kSampleMost = 0.9;  // a larger fraction of the rows is not worth drawing

/// Samples grow from this share of all rows, and at least so many, to what is wanted where learning rate times trees
/// is 10.
constexpr double kFirstShare = 0.2, kFewestSearched = 8192.0, kGrowth = 10.0;

/// The power-of-two grid on which numbers up to `largest` take so many bits.
double term_grid(float largest, int bits) {
    if (!(largest > 0.0f) || !std::isfinite(largest)) return std::ldexp(1.0, bits);
    int exponent = 0;
    const float mantissa = std::frexp(largest, &exponent);
    return std::ldexp(1.0, bits - exponent + (mantissa == 0.5f));
}

class Boosting {
  public:
    Boosting(TrainingRows& rows, const RowFacts& facts, const Scores& scores, const std::vector<Column>& columns,
             const FitOptions& options)
        : rows_(rows),
          facts_(facts),
          scores_(scores),
          options_(options),
          grower_(columns, tree_options(options)),
          outputs_(scores.outputs()) {
        sampled_ = options.search_rows < kSampleMost * facts.total && facts.hashed;
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
        move(step, 1, 0, false);
        if (options_.fit_constant) step = scores_.constant(facts_.class_weight);
        result_.constant = step;
        if (sampled_) mu_ = first_mu();
        move(step, 1, 0, true);
    }

    std::vector<uint8_t> columns_of(int round) const {
        if (options_.column_fraction >= 1.0) return std::vector<uint8_t>(grower_.given(), 1);
        std::vector<std::pair<uint32_t, std::size_t>> order;
        for (std::size_t j = 0; j < options_.numbers.size(); ++j)
            if (const uint64_t own = options_.numbers[j])
                order.emplace_back(round_key(options_.seed ^ 0xC01u ^ own, round), j);
        std::sort(order.begin(), order.end());
        order.resize(static_cast<std::size_t>(std::ceil(options_.column_fraction * static_cast<double>(order.size()))));
        std::vector<uint8_t> used(grower_.given(), 0);
        for (const auto& [key, column] : order) used[column] = 1;
        return used;
    }

    /// A random sign for each class, not all alike: the gradients of a row add up to 0 over the classes.
    std::vector<float> signs_of(int round) const {
        std::vector<float> signs(outputs_, 1.0f);
        if (outputs_ == 1) return signs;
        for (std::size_t k = 0; k < outputs_; ++k)
            signs[k] = round_key(options_.seed ^ 0x516u, round * outputs_ + k) & 1 ? 1.0f : -1.0f;
        if (std::count(signs.begin(), signs.end(), signs[0]) == static_cast<std::ptrdiff_t>(outputs_))
            signs[round % outputs_] *= -1.0f;
        return signs;
    }

    SearchRows search_rows() {
        SearchRows found = rows_.searched();
        found.share = facts_.total > 0.0 ? found.weight / facts_.total : 1.0;
        result_.searched.push_back(static_cast<int64_t>(found.codes->rows()));
        return found;
    }

    LeafSums sums_at(const double* step, std::size_t leaves, const Tree* tree = nullptr) {
        const bool exact = options_.step.exact;
        const int bits = exact ? kExactBits : kSumBits;
        const LeafSums empty(leaves, outputs_, term_grid(extremes_.gradient, bits),
                             term_grid(extremes_.curvature, bits), exact);
        return rows_.sums(empty, leaves, step, tree);
    }

    std::vector<double> steps_of(const Tree& tree) {
        const std::size_t leaves = tree.leaves();
        const SumsAt at = [&](const double* tried) { return sums_at(tried, leaves); };
        const LeafSums here = sums_at(nullptr, leaves, &tree);
        std::vector<double> step = find_steps(here, at, scores_.rule(), options_.step);
        // A monotone tree's leaves are ordered by bounds between them.
        for (std::size_t i = 0; i < tree.low.size() && outputs_ == 1; ++i)
            step[i] = std::clamp(step[i], options_.step.learning_rate * tree.low[i],
                                 options_.step.learning_rate * tree.high[i]);
        return step;
    }

    void take(const Tree& tree, const std::vector<double>& step, int round) {
        for (const Split& split : tree.splits) result_.splits.push_back(given(split));
        result_.first_split.push_back(static_cast<int32_t>(result_.splits.size()));
        result_.values.insert(result_.values.end(), step.begin(), step.end());
        move(step, tree.leaves(), round + 1, true);
    }

    /// The same test of the column that was given: code 0 stays, 1 goes.
    Split given(const Split& split) const {
        const Column& column = grower_.columns()[split.column];
        Split found = split;
        found.column = origin_of(column, split);
        if (!column.members.empty()) found.test = Test::missing_right, found.cut = 0, found.set = {};
        return found;
    }

    /// Takes the step and draws the rows that the next round searches.
    void move(const std::vector<double>& step, std::size_t leaves, int next_round, bool recorded) {
        MoveRequest request{step.data(),
                            leaves,
                            signs_of(next_round),
                            sampled_,
                            round_key(options_.seed, next_round),
                            mu_,
                            recorded && options_.track_loss};
        const Moved moved = rows_.move(request);
        extremes_ = moved.extremes;
        if (sampled_) {  // the next round's mu, from how many rows this one took
            const double wanted = wanted_rows(next_round);
            const double ratio = std::clamp(static_cast<double>(moved.taken) / wanted, 0.5, 2.0);
            mu_ = static_cast<float>(static_cast<double>(mu_) * ratio * (wanted / wanted_rows(next_round + 1)));
        }
        if (!recorded) return;
        if (options_.track_loss) result_.loss.push_back(static_cast<double>(moved.loss) / kLossGrid);
        if (facts_.held_out) result_.held_out.push_back(static_cast<double>(moved.held_out) / kLossGrid);
    }

    /// The first trees find splits far above the noise of a sample, later ones do not: samples grow with the path.
    double wanted_rows(int round) const {
        const double most = options_.search_rows,
                     least = std::min(most, std::max(kFewestSearched, kFirstShare * facts_.total));
        return least + (most - least) * std::min(1.0, options_.step.learning_rate * round / kGrowth);
    }

    float first_mu() {
        const float largest = 1.1f * std::max(extremes_.gradient, extremes_.curvature) * static_cast<float>(outputs_);
        const int64_t sum = rows_.sizes(largest);
        int exponent = 0;
        const float mantissa = std::frexp(largest, &exponent);
        const double grid = std::ldexp(1.0, 20 - exponent + (mantissa == 0.5f));
        return static_cast<float>(std::max(static_cast<double>(sum) / grid / wanted_rows(0), 1e-30));
    }

    bool no_longer_better(int trees) {
        if (!facts_.held_out) {
            result_.best_round = trees;
            return false;
        }
        if (result_.held_out[trees] < result_.held_out[result_.best_round]) result_.best_round = trees;
        least_.push_back(result_.held_out[result_.best_round]);
        return (options_.patience > 0 && trees - result_.best_round >= options_.patience) || out_of_reach(trees);
    }

    /// Whether half as many trees again as the rival's would not reach its loss, were every doubling to gain as the
    /// last.
    bool out_of_reach(int trees) const {
        if (options_.rival < 0.0 || trees < std::max(kFewTrees, options_.rival_trees / 8)) return false;
        const double now = least_[trees - 1], gain = least_[trees / 2 - 1] - now;
        const double doublings = std::max(0.25, std::log2(1.5 * options_.rival_trees / trees));
        return now - doublings * gain > options_.rival;
    }

    FitResult finish(Stop stop) {
        result_.stop = stop;
        if (options_.track_loss) result_.largest_gain = next_gain();
        return std::move(result_);
    }

    /// What the best split of all rows together could still gain.
    double next_gain() {
        TreeOptions one = tree_options(options_);
        one.max_leaf_nodes = 2;
        const std::vector<uint8_t> all(grower_.given(), 1);
        const Tree tree = Grower(grower_.columns(), one).grow(rows_.searched(), all);
        return tree.splits.empty() ? 0.0 : tree.splits[0].gain;
    }

    TrainingRows& rows_;
    const RowFacts& facts_;
    const Scores& scores_;
    const FitOptions& options_;
    Grower grower_;
    FitResult result_;
    std::size_t outputs_ = 1;
    bool sampled_ = false;
    float mu_ = 1e30f;  // the first move, which comes before it is known, draws hardly a row
    Extremes extremes_;
    std::vector<double> least_;  // held-out loss so far, after each round
};

}  // namespace

RowFacts facts_of(const FitRows& rows, const FitRows* held_out) {
    const Labels& labels = rows.labels;
    const std::size_t n = labels.rows;
    RowFacts facts;
    facts.total = labels.copies ? std::accumulate(labels.copies, labels.copies + n, 0.0) : static_cast<double>(n);
    facts.held_out = held_out != nullptr;
    facts.hashed = rows.hash != nullptr;
    std::vector<Accumulator> sums(std::max<std::size_t>(rows.scores->outputs(), 2));
    std::vector<int64_t> count(sums.size(), 0);
    for (std::size_t i = 0; i < n; ++i) {
        if (labels.weight) sums[labels.target[i]].add(labels.weight[i]);
        count[labels.target[i]] += labels.copies ? labels.copies[i] : 1;
    }
    for (std::size_t k = 0; k < sums.size(); ++k)
        facts.class_weight.push_back(labels.weight ? sums[k].value() : static_cast<double>(count[k]));
    return facts;
}

FitResult fit(TrainingRows& rows, const RowFacts& facts, const Scores& scores, const std::vector<Column>& columns,
              const FitOptions& options, const std::function<bool(int)>& watch) {
    return Boosting(rows, facts, scores, columns, options).run(watch);
}

}  // namespace permissible::boosted
