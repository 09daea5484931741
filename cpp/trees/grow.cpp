// The loop of UDT: histogram the smaller child, take the larger one's by subtraction, list and compare the cuts.
#include "trees/grow.hpp"

#include <memory>
#include <queue>

#include "trees/partition.hpp"

namespace permissible::trees {
namespace {

/// Histograms of open leaves are kept for subtraction up to this many bytes; beyond it they are counted afresh, and so
/// are those of nodes of few rows, where counting is as quick.
constexpr std::size_t kHistogramBytes = std::size_t{256} << 20;
constexpr std::size_t kWorthKeeping = 256;

template <typename Sum>
class Grower {
  public:
    Grower(const RowBlocks<Sum>& blocks, const Impurity& impurity, const Options& options)
        : blocks_(blocks),
          rows_(blocks.front()),
          options_(options),
          offsets_(histogram_offsets(rows_)),
          finder_({rows_.codes.bins, rows_.codes.bins + rows_.codes.columns}, rows_.classes, rows_.counted, impurity,
                  options) {}

    Tree run() {
        open_root();
        std::int64_t leaves = 1;
        while (!queue_.empty() && (options_.max_leaf_nodes < 0 || leaves < options_.max_leaf_nodes)) {
            if (options_.poll) options_.poll();
            const int node = queue_.top().node;
            queue_.pop();
            ++leaves;
            split(node, options_.max_leaf_nodes < 0 || leaves < options_.max_leaf_nodes);
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
        NodeFindings choice = {};
    };
    struct Entry {
        double gain;
        int node;
        bool operator<(const Entry& other) const { return gain != other.gain ? gain < other.gain : node > other.node; }
    };

    const RowBlocks<Sum>& blocks_;
    const ClassRows<Sum>& rows_;  // the first block, for what all share
    const Options& options_;
    std::vector<std::size_t> offsets_;
    SplitFinder<Sum> finder_;
    std::vector<std::uint32_t> index_, spare_;
    std::vector<Open> open_;
    std::priority_queue<Entry> queue_;
    std::size_t kept_bytes_ = 0;
    Tree tree_;

    std::size_t histogram_size() const { return offsets_.back(); }
    std::size_t histogram_bytes() const { return offsets_.back() * sizeof(Sum); }
    int add_node(Open&& open) {
        const int node = static_cast<int>(open_.size());
        for (int c = 0; c < rows_.classes; ++c)
            tree_.sums.push_back(static_cast<double>(open.totals[c]) * options_.unit);
        tree_.value.push_back(finder_.value(open.totals));
        tree_.samples.push_back(static_cast<std::int64_t>(open.end - open.begin));
        tree_.left.push_back(-1);
        tree_.right.push_back(-1);
        tree_.column.push_back(-1);
        tree_.code.push_back(-1);
        tree_.test.push_back(static_cast<std::int8_t>(Test::leaf));
        tree_.left_set.push_back({});
        open_.push_back(std::move(open));
        return node;
    }

    double samples(const Open& open) const {
        return rows_.counted ? static_cast<double>(open.totals[rows_.classes]) : finder_.weight(open.totals);
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
        std::vector<std::int64_t> totals(rows_.channels(), 0);
        index_.reserve(blocks_.back().first + blocks_.back().codes.rows);
        for (const ClassRows<Sum>& rows : blocks_)
            for (std::size_t i = 0; i < rows.codes.rows; ++i) {
                if (rows.weight && rows.weight[i] <= 0) continue;
                index_.push_back(static_cast<std::uint32_t>(rows.first + i));
                totals[rows.target[i]] += rows.weight ? rows.weight[i] : Sum{1};
                if (rows.counted) ++totals[rows.classes];
            }
        spare_.resize(index_.size());
        Open root{0, index_.size(), 0, 0.0, 1.0, std::move(totals)};
        const int node = add_node(std::move(root));
        if (splittable(node) && options_.max_leaf_nodes != 1) find_split(node, fresh(node));
    }

    std::unique_ptr<Sum[]> fresh(int node) {
        auto histogram = std::make_unique<Sum[]>(histogram_size());
        const Open& open = open_[node];
        fill_histogram(blocks_, offsets_, index_.data() + open.begin, open.end - open.begin, histogram.get(),
                       options_.threads);
        return histogram;
    }

    /// Finds the node's best cut; queues it, with its histogram, when there is one.
    void find_split(int node, std::unique_ptr<Sum[]> histogram) {
        Open& open = open_[node];
        open.choice = finder_.find_split(histogram.get(), open.totals, open.low, open.high);
        if (open.choice.cut.column < 0) return;
        queue_.push({coarse(open.choice.cut.gain), node});
        if (open.end - open.begin > kWorthKeeping && kept_bytes_ + histogram_bytes() <= kHistogramBytes) {
            kept_bytes_ += histogram_bytes();
            open.histogram = std::move(histogram);
        }
    }

    void split(int node, bool more) {
        Open parent = std::move(open_[node]);
        const NodeFindings& choice = parent.choice;
        const int column = choice.cut.column;
        const std::size_t n_left = divide_rows(blocks_, index_.data() + parent.begin, parent.end - parent.begin, column,
                                               choice.goes_left.data(), spare_.data(), options_.threads);
        Open left{parent.begin, parent.begin + n_left, parent.depth + 1, parent.low, parent.high, choice.left_totals};
        Open right{left.end, parent.end, parent.depth + 1, parent.low, parent.high, parent.totals};
        for (int c = 0; c < rows_.channels(); ++c) right.totals[c] -= left.totals[c];
        bound(left, right, choice.test == Test::missing ? 0 : options_.monotone[column]);
        record(node, choice);
        const int small = add_node(std::move(left));
        add_node(std::move(right));
        if (more) find_child_splits(small, small + 1, std::move(parent.histogram));
    }

    /// A monotone cut keeps every later value of one side below the middle of the two, and of the other above it.
    void bound(Open& left, Open& right, int monotone) const {
        if (monotone == 0) return;
        const double l = static_cast<double>(left.totals[1]) * options_.unit / finder_.weight(left.totals);
        const double r = static_cast<double>(right.totals[1]) * options_.unit / finder_.weight(right.totals);
        const double middle = 0.5 * (l + r);
        (monotone > 0 ? left : right).high = middle;
        (monotone > 0 ? right : left).low = middle;
    }

    void record(int node, const NodeFindings& choice) {
        tree_.left[node] = static_cast<std::int32_t>(open_.size());
        tree_.right[node] = tree_.left[node] + 1;
        tree_.column[node] = choice.cut.column;
        tree_.code[node] = choice.test == Test::numeric ? choice.cut.code : -1;
        tree_.test[node] = static_cast<std::int8_t>(choice.test);
        for (int k = 0; k < 256; ++k)
            if (choice.goes_left[k]) insert(tree_.left_set[node], k);
        tree_.split_order.push_back(node);
        tree_.gain.push_back(choice.cut.gain);
        open_[node].begin = open_[node].end = 0;  // no longer a leaf
    }

    void find_child_splits(int left, int right, std::unique_ptr<Sum[]> histogram) {
        const bool wanted[2] = {splittable(left), splittable(right)};
        if (histogram) kept_bytes_ -= histogram_bytes();
        if (!histogram) {
            for (const int node : {left, right})
                if (wanted[node - left]) find_split(node, fresh(node));
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
            if (wanted[node - left]) find_split(node, node == small ? std::move(counted) : std::move(histogram));
    }

    void name_leaves() {
        if (!options_.name_leaves) return;
        tree_.leaf_of_row.assign(blocks_.back().first + blocks_.back().codes.rows, -1);
        for (std::size_t node = 0; node < open_.size(); ++node)
            for (std::size_t i = open_[node].begin; i < open_[node].end; ++i)
                tree_.leaf_of_row[index_[i]] = static_cast<std::int32_t>(node);
    }
};

}  // namespace

template <typename Sum>
Tree grow(const RowBlocks<Sum>& rows, const Impurity& impurity, const Options& options) {
    return Grower<Sum>(rows, impurity, options).run();
}

template Tree grow<std::int32_t>(const RowBlocks<std::int32_t>&, const Impurity&, const Options&);
template Tree grow<std::int64_t>(const RowBlocks<std::int64_t>&, const Impurity&, const Options&);

}  // namespace permissible::trees
