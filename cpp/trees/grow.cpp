// The loop of UDT: histogram the smaller child, take the larger one's by subtraction, list and weigh the cuts.
#include "trees/grow.hpp"

#include <bit>
#include <limits>
#include <memory>
#include <queue>
#include <string>

#include "trees/partition.hpp"

namespace permissible::trees {
namespace {

/// Histograms of open leaves are kept for subtraction up to this many bytes; beyond it they are counted afresh, and so
/// are those of nodes of few rows, where counting is as quick.
constexpr std::size_t kHistogramBytes = std::size_t{256} << 20;
constexpr std::size_t kWorthKeeping = 256;

/// Cuts evaluated in one go: enough for the vector units, few enough for the nearest cache.
constexpr std::size_t kCutsTogether = 2048;

/// A gain without its last bits, so that leaves of equal gain tie and the older one goes first.
double coarse(double gain) {
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(gain) + (1ull << 11)) & ~((1ull << 12) - 1));
}

template <typename Sum>
class Grower {
  public:
    Grower(const Rows<Sum>& rows, const Impurity& impurity, const Options& options)
        : rows_(rows), impurity_(impurity), options_(options), offsets_(histogram_offsets(rows)) {
        index_.reserve(rows.n_rows);
        for (std::size_t i = 0; i < rows.n_rows; ++i)
            if (!rows.weight || rows.weight[i] > 0) index_.push_back(static_cast<std::uint32_t>(i));
        spare_.resize(index_.size());
        std::size_t widest = kCutsTogether, all = 0;
        for (std::size_t j = 0; j < rows.n_columns; ++j) {
            rooms_.push_back(most_cuts(rows.codes[j], options.categorical[j], rows.classes));
            widest = std::max(widest, rooms_.back());
            all += rooms_.back();
        }
        const bool user = impurity.phi == Phi::callback;
        for (int t = 0; t < (user ? 1 : std::max(1, options.threads)); ++t)
            cuts_.emplace_back(rows.classes, user ? all : std::min(widest, all));
        found_.resize(rows.n_columns);
        begins_.resize(rows.n_columns);
    }

    Tree run() {
        open_root();
        std::int64_t leaves = 1;
        while (!queue_.empty() && (options_.max_leaves < 0 || leaves < options_.max_leaves)) {
            if (options_.poll) options_.poll();
            const int node = queue_.top().node;
            queue_.pop();
            ++leaves;
            split(node, options_.max_leaves < 0 || leaves < options_.max_leaves);
        }
        name_leaves();
        return std::move(tree_);
    }

  private:
    struct Open {
        std::size_t begin, end;
        std::int64_t depth;
        double low, high;
        std::vector<std::int64_t> totals;  // channel sums
        std::unique_ptr<Sum[]> histogram = {};
        BestCut cut = {};
        Test test = Test::leaf;
        bool default_left = false;
        std::array<std::uint8_t, 256> goes_left{};
        std::vector<std::int64_t> left_totals = {};
    };
    struct Entry {
        double gain;
        int node;
        bool operator<(const Entry& other) const { return gain != other.gain ? gain < other.gain : node > other.node; }
    };

    const Rows<Sum>& rows_;
    const Impurity& impurity_;
    const Options& options_;
    std::vector<std::size_t> offsets_;
    std::vector<std::uint32_t> index_, spare_;
    std::vector<Cuts> cuts_;
    std::vector<BestCut> found_;
    std::vector<std::size_t> rooms_, begins_;  // per column: the most cuts it can have; where its cuts begin
    std::vector<Open> open_;
    std::priority_queue<Entry> queue_;
    std::size_t kept_bytes_ = 0;
    Tree tree_;

    std::size_t histogram_size() const { return offsets_.back(); }
    std::size_t histogram_bytes() const { return offsets_.back() * sizeof(Sum); }
    Run<Sum> run_of(const Sum* histogram, std::size_t j) const {
        return {histogram + offsets_[j],      rows_.codes[j], rows_.classes, rows_.counted,
                options_.categorical[j] != 0, options_.unit};
    }

    int add_node(Open&& open) {
        const int node = static_cast<int>(open_.size());
        std::vector<double> sums(rows_.classes);
        for (int c = 0; c < rows_.classes; ++c) sums[c] = static_cast<double>(open.totals[c]) * options_.unit;
        double value = 0;
        impurities(impurity_, sums.data(), 1, rows_.classes, 1, &value);
        tree_.sums.insert(tree_.sums.end(), sums.begin(), sums.end());
        tree_.value.push_back(value);
        tree_.samples.push_back(static_cast<std::int64_t>(open.end - open.begin));
        tree_.left.push_back(-1);
        tree_.right.push_back(-1);
        tree_.column.push_back(-1);
        tree_.code.push_back(-1);
        tree_.test.push_back(static_cast<std::int8_t>(Test::leaf));
        tree_.default_left.push_back(0);
        tree_.left_set.push_back({});
        open_.push_back(std::move(open));
        return node;
    }

    double samples(const Open& open) const {
        if (rows_.counted) return static_cast<double>(open.totals[rows_.classes]);
        return weight(open);
    }
    double weight(const Open& open) const {
        double total = 0;
        for (int c = 0; c < rows_.classes; ++c) total += static_cast<double>(open.totals[c]) * options_.unit;
        return total;
    }

    /// Whether a node is worth a histogram at all.
    bool splittable(int node) const {
        const Open& open = open_[node];
        int present = 0;
        for (int c = 0; c < rows_.classes; ++c) present += open.totals[c] > 0;
        if (present < 2 || open.end - open.begin < 2) return false;
        if (options_.max_depth >= 0 && open.depth >= options_.max_depth) return false;
        return !(options_.limits.min_samples > 1 && samples(open) < 2 * options_.limits.min_samples);
    }

    void open_root() {
        Open root{0, index_.size(), 0, 0.0, 1.0, std::vector<std::int64_t>(rows_.channels(), 0)};
        for (const std::uint32_t i : index_) {
            root.totals[rows_.target[i]] += rows_.weight ? rows_.weight[i] : Sum{1};
            if (rows_.counted) ++root.totals[rows_.classes];
        }
        const int node = add_node(std::move(root));
        if (splittable(node) && options_.max_leaves != 1) weigh(node, fresh(node));
    }

    std::unique_ptr<Sum[]> fresh(int node) {
        auto histogram = std::make_unique<Sum[]>(histogram_size());
        const Open& open = open_[node];
        fill_histogram(rows_, offsets_, index_.data() + open.begin, open.end - open.begin, histogram.get(),
                       options_.threads);
        return histogram;
    }

    /// Finds the node's best cut; queues it, with its histogram, when there is one.
    void weigh(int node, std::unique_ptr<Sum[]> histogram) {
        Open& open = open_[node];
        const NodeView view{tree_.value[node], weight(open), open.low, open.high};
        weigh_columns(view, open, histogram.get());
        // Columns in their order: a later one must be better by more than rounding.
        const double noise = kGainNoise * view.weight;
        for (std::size_t j = 0; j < rows_.n_columns; ++j) {
            const BestCut& cut = found_[j];
            if (cut.gain <= 0) continue;
            if (open.cut.column < 0 || cut.gain > open.cut.gain + kTie * open.cut.gain + noise) {
                open.cut = cut;
                open.cut.column = static_cast<int>(j);
            }
        }
        if (open.cut.column < 0) return;
        spell_out(open, run_of(histogram.get(), open.cut.column));
        queue_.push({coarse(open.cut.gain), node});
        if (open.end - open.begin > kWorthKeeping && kept_bytes_ + histogram_bytes() <= kHistogramBytes) {
            kept_bytes_ += histogram_bytes();
            open.histogram = std::move(histogram);
        }
    }

    void weigh_columns(const NodeView& view, const Open& open, const Sum* histogram) {
        const std::int64_t columns = static_cast<std::int64_t>(rows_.n_columns);
        // A parallel region must be worth its barrier, which on a busy machine waits for the scheduler; a user's phi is
        // called by one thread, once.
        const int used = std::min<int>(resolve_threads(options_.threads, histogram_size() * 4), cuts_.size());
#pragma omp parallel for num_threads(used) if (used > 1) schedule(static, 1)
        for (int t = 0; t < used; ++t)
            weigh_range(view, open, histogram, cuts_[t], columns * t / used, columns * (t + 1) / used);
    }

    /// Lists the cuts of neighbouring columns while there is room, evaluates them in one go, and chooses column by
    /// column.
    void weigh_range(const NodeView& view, const Open& open, const Sum* histogram, Cuts& cuts, std::size_t begin,
                     std::size_t end) {
        for (std::size_t from = begin; from < end;) {
            cuts.count = 0;
            std::size_t to = from;
            for (; to < end && (to == from || cuts.count + rooms_[to] <= cuts.capacity); ++to) {
                begins_[to] = cuts.count;
                list_cuts(run_of(histogram, to), open.totals.data(), cuts);
            }
            cuts.evaluate(impurity_);
            for (std::size_t j = from; j < to; ++j)
                found_[j] = choose_cut(cuts, begins_[j], j + 1 < to ? begins_[j + 1] : cuts.count, view,
                                       options_.limits, options_.monotone[j]);
            from = to;
        }
    }

    /// Which codes go left. Codes that the node never saw follow the heavier side.
    void spell_out(Open& open, const Run<Sum>& run) const {
        const BestCut& cut = open.cut;
        const int missing = run.codes;
        std::vector<std::uint8_t> goes(run.codes + 1, 0), seen(run.codes + 1, 0);
        for (int k = 0; k <= run.codes; ++k)
            for (int c = 0; c < run.classes; ++c) seen[k] |= run.channel(c)[k] != 0;
        if (run.categorical) {
            const std::vector<int> order = category_order(run, cut.order);
            for (int i = 0; i < cut.code; ++i) goes[order[i]] = 1;
            open.test = Test::categorical;
        } else {
            for (int k = 0; k < run.codes; ++k) goes[k] = k <= cut.code;
            goes[missing] = cut.missing_left;
            open.test = cut.order == kPresence ? Test::missing : Test::numeric;
        }
        open.left_totals.assign(rows_.channels(), 0);
        for (int k = 0; k <= run.codes; ++k)
            if (goes[k])
                for (int c = 0; c < rows_.channels(); ++c) open.left_totals[c] += run.channel(c)[k];
        std::int64_t left = 0, all = 0;
        for (int c = 0; c < run.classes; ++c) {
            left += open.left_totals[c];
            all += open.totals[c];
        }
        open.default_left = left > all - left;
        open.goes_left.fill(open.default_left);
        for (int k = 0; k < run.codes; ++k)
            if (seen[k] || !run.categorical) open.goes_left[k] = goes[k];
        if (!run.categorical) std::fill(open.goes_left.begin() + run.codes, open.goes_left.begin() + 255, 0);
        if (seen[missing]) open.goes_left[255] = goes[missing];
    }

    void split(int node, bool more) {
        Open parent = std::move(open_[node]);
        const std::size_t column = parent.cut.column;
        const std::size_t n_left =
            divide_rows(index_.data() + parent.begin, parent.end - parent.begin, rows_.block(column / 8) + column % 8,
                        parent.goes_left.data(), spare_.data(), options_.threads);
        Open left{parent.begin, parent.begin + n_left, parent.depth + 1, parent.low, parent.high, parent.left_totals};
        Open right{left.end, parent.end, parent.depth + 1, parent.low, parent.high, parent.totals};
        for (int c = 0; c < rows_.channels(); ++c) right.totals[c] -= left.totals[c];
        bound(left, right, parent.test == Test::missing ? 0 : options_.monotone[column]);
        record(node, parent);
        const int small = add_node(std::move(left));
        add_node(std::move(right));
        if (more) weigh_children(small, small + 1, std::move(parent.histogram));
    }

    /// A monotone cut keeps every later value of one side below the middle of the two, and of the other above it.
    void bound(Open& left, Open& right, int monotone) const {
        if (monotone == 0) return;
        const double l = static_cast<double>(left.totals[1]) * options_.unit / weight(left);
        const double r = static_cast<double>(right.totals[1]) * options_.unit / weight(right);
        const double middle = 0.5 * (l + r);
        (monotone > 0 ? left : right).high = middle;
        (monotone > 0 ? right : left).low = middle;
    }

    void record(int node, const Open& parent) {
        tree_.left[node] = static_cast<std::int32_t>(open_.size());
        tree_.right[node] = tree_.left[node] + 1;
        tree_.column[node] = parent.cut.column;
        tree_.code[node] = parent.test == Test::numeric ? parent.cut.code : -1;
        tree_.test[node] = static_cast<std::int8_t>(parent.test);
        tree_.default_left[node] = parent.default_left;
        for (int k = 0; k < 256; ++k) tree_.left_set[node][k / 8] |= parent.goes_left[k] << (k % 8);
        tree_.split_order.push_back(node);
        tree_.gain.push_back(parent.cut.gain);
        open_[node].begin = open_[node].end = 0;  // no longer a leaf
    }

    void weigh_children(int left, int right, std::unique_ptr<Sum[]> histogram) {
        const bool wanted[2] = {splittable(left), splittable(right)};
        if (histogram) kept_bytes_ -= histogram_bytes();
        if (!histogram) {
            for (const int node : {left, right})
                if (wanted[node - left]) weigh(node, fresh(node));
            return;
        }
        const bool left_smaller = open_[left].end - open_[left].begin <= open_[right].end - open_[right].begin;
        const int small = left_smaller ? left : right, large = left_smaller ? right : left;
        if (!wanted[0] && !wanted[1]) return;
        std::unique_ptr<Sum[]> counted = fresh(small);
        if (wanted[large - left]) {
            for (std::size_t i = 0; i < histogram_size(); ++i) histogram[i] -= counted[i];
        }
        // The older node first, so that nothing depends on which one was counted.
        for (const int node : {left, right})
            if (wanted[node - left]) weigh(node, node == small ? std::move(counted) : std::move(histogram));
    }

    void name_leaves() {
        if (!options_.name_leaves) return;
        tree_.leaf_of_row.assign(rows_.n_rows, -1);
        for (std::size_t node = 0; node < open_.size(); ++node)
            for (std::size_t i = open_[node].begin; i < open_[node].end; ++i)
                tree_.leaf_of_row[index_[i]] = static_cast<std::int32_t>(node);
    }
};

}  // namespace

template <typename Sum>
Tree grow(const Rows<Sum>& rows, const Impurity& impurity, const Options& options) {
    return Grower<Sum>(rows, impurity, options).run();
}

template Tree grow<std::int32_t>(const Rows<std::int32_t>&, const Impurity&, const Options&);
template Tree grow<std::int64_t>(const Rows<std::int64_t>&, const Impurity&, const Options&);

}  // namespace permissible::trees
