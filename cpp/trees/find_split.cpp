#include "trees/find_split.hpp"

#include <algorithm>

namespace permissible::trees {
namespace {

/// Cuts evaluated in one go: enough for the vector units, few enough for the L1 cache.
constexpr std::size_t kCutsTogether = 2048;

}  // namespace

template <typename Sum>
SplitFinder<Sum>::SplitFinder(std::vector<int> codes, int classes, bool counted, const Impurity& impurity,
                              const Options& options)
    : codes_(std::move(codes)), classes_(classes), counted_(counted), impurity_(impurity), options_(options) {
    offsets_.push_back(0);
    std::size_t widest = kCutsTogether, all = 0;
    for (std::size_t j = 0; j < codes_.size(); ++j) {
        offsets_.push_back(offsets_.back() + static_cast<std::size_t>(codes_[j] + 1) * channels());
        rooms_.push_back(most_cuts(codes_[j], options.categorical[j], classes));
        widest = std::max(widest, rooms_.back());
        all += rooms_.back();
    }
    const bool user = impurity.phi == Phi::callback;  // called by one thread, once for all cuts of a node
    for (int t = 0; t < (user ? 1 : std::max(1, options.threads)); ++t)
        cuts_.emplace_back(classes, user ? all : std::min(widest, all));
    found_.resize(codes_.size());
    begins_.resize(codes_.size());
}

template <typename Sum>
double SplitFinder<Sum>::weight(const std::vector<std::int64_t>& totals) const {
    double total = 0;
    for (int c = 0; c < classes_; ++c) total += static_cast<double>(totals[c]) * options_.unit;
    return total;
}

template <typename Sum>
double SplitFinder<Sum>::value(const std::vector<std::int64_t>& totals) const {
    std::vector<double> sums(classes_);
    for (int c = 0; c < classes_; ++c) sums[c] = static_cast<double>(totals[c]) * options_.unit;
    double value = 0;
    impurities(impurity_, sums.data(), 1, classes_, 1, &value);
    return value;
}

template <typename Sum>
Run<Sum> SplitFinder<Sum>::run_of(const Sum* histogram, std::size_t column) const {
    return {histogram + offsets_[column],      codes_[column], classes_, counted_,
            options_.categorical[column] != 0, options_.unit};
}

template <typename Sum>
NodeFindings SplitFinder<Sum>::find_split(const Sum* histogram, const std::vector<std::int64_t>& totals, double low,
                                          double high) {
    const NodeView view{value(totals), weight(totals), low, high};
    const std::int64_t columns = static_cast<std::int64_t>(codes_.size());
    // A parallel region must be worth its barrier, which on a busy machine waits for the scheduler.
    const int used = std::min<int>(resolve_threads(options_.threads, size() * 4), static_cast<int>(cuts_.size()));
#pragma omp parallel for num_threads(used) if (used > 1) schedule(static, 1)
    for (int t = 0; t < used; ++t)
        search_columns(histogram, totals, view, cuts_[t], columns * t / used, columns * (t + 1) / used);
    // Columns in their order: a later one must be better by more than rounding.
    NodeFindings choice;
    const double noise = kGainNoise * view.weight;
    for (std::size_t j = 0; j < codes_.size(); ++j) {
        const BestCut& cut = found_[j];
        if (cut.gain <= 0) continue;
        if (choice.cut.column < 0 || cut.gain > choice.cut.gain + kTie * choice.cut.gain + noise) {
            choice.cut = cut;
            choice.cut.column = static_cast<int>(j);
        }
    }
    if (choice.cut.column >= 0) spell_out(choice, run_of(histogram, choice.cut.column), totals);
    return choice;
}

/// Lists the cuts of neighbouring columns while there is room, evaluates them in one go, and chooses column by column.
template <typename Sum>
void SplitFinder<Sum>::search_columns(const Sum* histogram, const std::vector<std::int64_t>& totals,
                                      const NodeView& view, Cuts& cuts, std::size_t begin, std::size_t end) {
    for (std::size_t from = begin; from < end;) {
        cuts.count = 0;
        std::size_t to = from;
        for (; to < end && (to == from || cuts.count + rooms_[to] <= cuts.capacity); ++to) {
            begins_[to] = cuts.count;
            list_cuts(run_of(histogram, to), totals.data(), cuts);
        }
        cuts.evaluate(impurity_);
        for (std::size_t j = from; j < to; ++j)
            found_[j] = choose_cut(cuts, begins_[j], j + 1 < to ? begins_[j + 1] : cuts.count, view, options_.limits,
                                   options_.monotone[j]);
        from = to;
    }
}

/// Which codes go left. Codes absent from the node follow the heavier side.
template <typename Sum>
void SplitFinder<Sum>::spell_out(NodeFindings& choice, const Run<Sum>& run,
                                 const std::vector<std::int64_t>& totals) const {
    const BestCut& cut = choice.cut;
    const int missing = run.codes;
    std::vector<std::uint8_t> goes(run.codes + 1, 0), seen(run.codes + 1, 0);
    for (int k = 0; k <= run.codes; ++k)
        for (int c = 0; c < run.classes; ++c) seen[k] |= run.channel(c)[k] != 0;
    if (run.categorical) {
        const std::vector<int> order = category_order(run, cut.order);
        for (int i = 0; i < cut.code; ++i) goes[order[i]] = 1;
        choice.test = Test::categorical;
    } else {
        for (int k = 0; k < run.codes; ++k) goes[k] = k <= cut.code;
        goes[missing] = cut.missing_left;
        choice.test = cut.order == kPresence ? Test::missing : Test::numeric;
    }
    choice.left_totals.assign(channels(), 0);
    for (int k = 0; k <= run.codes; ++k)
        if (goes[k])
            for (int c = 0; c < channels(); ++c) choice.left_totals[c] += run.channel(c)[k];
    std::int64_t left = 0, all = 0;
    for (int c = 0; c < run.classes; ++c) {
        left += choice.left_totals[c];
        all += totals[c];
    }
    choice.goes_left.fill(left > all - left);  // the heavier side takes the codes absent from the node
    for (int k = 0; k < run.codes; ++k)
        if (seen[k] || !run.categorical) choice.goes_left[k] = goes[k];
    if (!run.categorical) std::fill(choice.goes_left.begin() + run.codes, choice.goes_left.begin() + 255, 0);
    if (seen[missing]) choice.goes_left[255] = goes[missing];
}

template class SplitFinder<std::int32_t>;
template class SplitFinder<std::int64_t>;

}  // namespace permissible::trees
