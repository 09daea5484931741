// Best-first growth: every open leaf knows its best split; the one that explains most is split next. A rule is the same
// with one open side: the rows that pass every literal so far; all others share one leaf.
#include "mcboost/trees.hpp"

#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"
#include "mcboost/splits.hpp"

namespace permissible::mcboost {

namespace {

using One = std::array<int64_t, 3>;
using Many = std::vector<int64_t>;

template <typename Sums>
struct Node {
    std::size_t begin, end;  // rows in the index array
    int depth;
    int parent;  // node whose child this is, -1 for the root
    bool is_left;
    Sums total;
    Split<Sums> best;
};

double largest_of(const double* values, std::size_t count) {
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(values[i]));
    return largest;
}

Grids grids_of(const Moments& m) {
    return {tree_grid(largest_of(m.gradient, m.rows * m.outputs), m.rows),
            tree_grid(largest_of(m.curvature, m.rows), m.rows), tree_grid(largest_of(m.weight, m.rows), m.rows)};
}

template <typename Sums>
class Grower {
  public:
    Grower(const Codes& codes, const Moments& moments, const TreeLimits& growth, int threads)
        : codes_(codes),
          growth_(growth),
          threads_(threads),
          outputs_(moments.outputs),
          width_(moments.outputs + 2),
          chooser_(growth, grids_of(moments), moments.outputs, growth.max_literals > 0),
          columns_(chosen_columns(codes.columns, growth.column_share, growth.seed)) {
        quantise(moments);
    }

    Tree grow_tree(std::vector<int32_t>& leaf_of_row);
    Tree grow_rule(std::vector<int32_t>& leaf_of_row);

  private:
    void quantise(const Moments& moments);
    Split<Sums> best_split(const Node<Sums>& node, uint64_t node_seed) const;
    Split<Sums> exact_split(const Node<Sums>& node, int column) const;
    Split<Sums> random_split(const Node<Sums>& node, int column, uint64_t seed) const;
    std::size_t partition(std::size_t begin, std::size_t end, const Split<Sums>& split);
    void route_others(const Tree& tree, std::vector<int32_t>& leaf_of_row) const;

    Codes codes_;
    TreeLimits growth_;
    int threads_, outputs_, width_;
    Chooser<Sums> chooser_;
    int64_t size_ = 0;              // sum of |gradients|
    std::vector<int64_t> moments_;  // (n, width), row-major
    std::vector<int> columns_;
    std::vector<uint32_t> index_, others_, scratch_;  // rows of the fit, rows left out of it
};

template <typename Sums>
void Grower<Sums>::quantise(const Moments& m) {
    const Grids grids = chooser_.grids();
    moments_.resize(m.rows * width_);
    Sums& everything = chooser_.everything;
    everything = zeros<Sums>(width_);
    index_.reserve(m.rows);
    for (std::size_t i = 0; i < m.rows; ++i) {
        if (m.share && m.share[i] == 0) {
            others_.push_back(static_cast<uint32_t>(i));
            continue;
        }
        index_.push_back(static_cast<uint32_t>(i));
        int64_t* out = &moments_[i * width_];
        for (int r = 0; r < outputs_; ++r) {
            out[r] = static_cast<int64_t>(std::nearbyint(m.gradient[r * m.rows + i] * grids.gradient));
            size_ += std::abs(out[r]);
        }
        out[outputs_] = static_cast<int64_t>(std::nearbyint(m.curvature[i] * grids.curvature));
        out[outputs_ + 1] = static_cast<int64_t>(std::nearbyint(m.weight[i] * grids.weight));
        chooser_.add(everything, out);
    }
    scratch_.resize(index_.size());
}

template <typename Sums>
Split<Sums> Grower<Sums>::exact_split(const Node<Sums>& node, int column) const {
    const auto width = static_cast<std::size_t>(width_);
    const bool categories = codes_.categorical[column];
    const int bins = categories ? 255 : codes_.bins[column];
    std::vector<int64_t> cells(cells_of(categories, bins) * width, 0);
    const int missing_at = categories ? kMissingCode : bins;
    const uint8_t* codes = codes_.column(column);
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const std::size_t row = index_[i];
        const uint8_t code = codes[row * 8];
        int64_t* cell = &cells[(code == kMissingCode ? missing_at : code) * width];
        const int64_t* moment = &moments_[row * width];
        for (std::size_t k = 0; k < width; ++k) cell[k] += moment[k];
    }
    return chooser_.of_cells(node.total, column, categories, bins, cells.data(), width);
}

template <typename Sums>
Split<Sums> Grower<Sums>::random_split(const Node<Sums>& node, int column, uint64_t seed) const {
    const uint8_t* codes = codes_.column(column);
    const bool categories = codes_.categorical[column];
    int low = kMissingCode, high = -1;
    bool has_missing = false;
    for (std::size_t i = node.begin; i < node.end && !categories; ++i) {
        const int value = codes[static_cast<std::size_t>(index_[i]) * 8];
        if (value == kMissingCode) {
            has_missing = true;
            continue;
        }
        low = std::min(low, value);
        high = std::max(high, value);
    }
    Split<Sums> best;
    const RandomTest test = random_test(categories, low, high, has_missing, seed);
    if (!test.exists) return best;
    Sums left = zeros<Sums>(width_);
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const std::size_t row = index_[i];
        if (in_set(test.mask.data(), codes[row * 8]))
            chooser_.add(left, &moments_[row * static_cast<std::size_t>(width_)]);
    }
    if (chooser_.consider(best, node.total, left, column, test.code)) best.mask = test.mask;
    return best;
}

template <typename Sums>
Split<Sums> Grower<Sums>::best_split(const Node<Sums>& node, uint64_t node_seed) const {
    const auto count = static_cast<std::ptrdiff_t>(columns_.size());
    std::vector<Split<Sums>> found(count);
    const int threads = resolve_threads(threads_, (node.end - node.begin) * columns_.size());
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        const int column = columns_[k];
        found[k] = growth_.random_thresholds ? random_split(node, column, mixed(node_seed ^ mixed(column + 1)))
                                             : exact_split(node, column);
    }
    Split<Sums> best;
    for (auto& split : found)  // the first column among equals
        if (split.better_than(best)) best = std::move(split);
    return best;
}

template <typename Sums>
std::size_t Grower<Sums>::partition(std::size_t begin, std::size_t end, const Split<Sums>& split) {
    const uint8_t* codes = codes_.column(split.column);
    std::size_t left = begin, right = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const uint32_t row = index_[i];
        if (in_set(split.mask.data(), codes[static_cast<std::size_t>(row) * 8]))
            index_[left++] = row;
        else
            scratch_[right++] = row;
    }
    std::copy(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(right),
              index_.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
}

template <typename Sums>
void Grower<Sums>::route_others(const Tree& tree, std::vector<int32_t>& leaf_of_row) const {
    if (tree.column.empty()) return;
    const CodedTree coded{tree.column.data(), tree.left.data(), tree.right.data(), tree.mask[0].data()};
    for (const uint32_t row : others_) leaf_of_row[row] = coded.leaf_of(codes_, row);
}

void add_node(Tree& tree, int column, int code, const CodeSet& mask) {
    tree.column.push_back(column);
    tree.code.push_back(code);
    tree.mask.push_back(mask);
    tree.left.push_back(~0);
    tree.right.push_back(~0);
}

template <typename Sums>
Tree Grower<Sums>::grow_tree(std::vector<int32_t>& leaf_of_row) {
    Tree tree;
    tree.outputs = outputs_;
    std::vector<Node<Sums>> open{{0, index_.size(), 0, -1, true, chooser_.everything, {}}};
    uint64_t made = 0;
    const auto prepare = [&](Node<Sums>& node) {
        ++made;
        if (growth_.max_depth <= 0 || node.depth < growth_.max_depth)
            node.best = best_split(node, mixed(growth_.seed + made));
    };
    prepare(open[0]);
    while (static_cast<int>(open.size()) < growth_.max_leaf_nodes) {
        std::size_t pick = open.size();
        double gain = 1e-12;
        for (std::size_t k = 0; k < open.size(); ++k)
            if (open[k].best.gain > gain * (1 + kRounding)) gain = open[k].best.gain, pick = k;
        if (pick == open.size()) break;
        const Node<Sums> node = std::move(open[pick]);
        const auto id = static_cast<int>(tree.column.size());
        if (node.parent >= 0) (node.is_left ? tree.left : tree.right)[node.parent] = id;
        add_node(tree, node.best.column, node.best.code, node.best.mask);
        const std::size_t middle = partition(node.begin, node.end, node.best);
        Node<Sums> left{node.begin, middle, node.depth + 1, id, true, node.best.left, {}};
        Node<Sums> right{middle, node.end, node.depth + 1, id, false, chooser_.difference(node.total, node.best.left),
                         {}};
        if (static_cast<int>(open.size()) + 1 < growth_.max_leaf_nodes) {  // else these are the last leaves
            prepare(left);
            prepare(right);
        }
        open[pick] = std::move(left);
        open.push_back(std::move(right));
    }
    std::vector<Sums> leaves;
    for (std::size_t k = 0; k < open.size(); ++k) {
        const Node<Sums>& node = open[k];
        if (node.parent >= 0) (node.is_left ? tree.left : tree.right)[node.parent] = ~static_cast<int32_t>(k);
        leaves.push_back(node.total);
        for (std::size_t i = node.begin; i < node.end; ++i) leaf_of_row[index_[i]] = static_cast<int32_t>(k);
    }
    chooser_.finish(tree, leaves, size_);
    route_others(tree, leaf_of_row);
    return tree;
}

template <typename Sums>
Tree Grower<Sums>::grow_rule(std::vector<int32_t>& leaf_of_row) {
    Tree tree;
    tree.outputs = outputs_;
    Node<Sums> node{0, index_.size(), 0, -1, true, chooser_.everything, {}};
    const Sums& everything = chooser_.everything;
    double reached = chooser_.score(everything);
    for (int literal = 0; literal < growth_.max_literals; ++literal) {
        const Split<Sums> split = best_split(node, mixed(growth_.seed + literal + 1));
        if (split.column < 0 || !(split.gain > reached * (1 + 1e-12) + 1e-12)) break;
        reached = split.gain;
        const auto id = static_cast<int>(tree.column.size());
        if (id > 0) (node.is_left ? tree.left : tree.right)[id - 1] = id;
        add_node(tree, split.column, split.code, split.mask);
        const std::size_t middle = partition(node.begin, node.end, split);
        const Sums inside = split.side_left ? split.left : chooser_.difference(node.total, split.left);
        node = {split.side_left ? node.begin : middle,
                split.side_left ? middle : node.end,
                literal + 1,
                id,
                split.side_left,
                inside,
                {}};
    }
    if (tree.column.empty()) {
        chooser_.finish(tree, {everything}, size_);
        return tree;
    }
    (node.is_left ? tree.left : tree.right).back() = ~1;
    chooser_.finish(tree, {chooser_.difference(everything, node.total), node.total}, size_);
    for (std::size_t i = node.begin; i < node.end; ++i) leaf_of_row[index_[i]] = 1;
    route_others(tree, leaf_of_row);
    return tree;
}

template <typename Sums>
Tree grow_with(const Codes& codes, const Moments& moments, const TreeLimits& growth, int threads,
               std::vector<int32_t>& leaf_of_row) {
    Grower<Sums> grower(codes, moments, growth, threads);
    return growth.max_literals > 0 ? grower.grow_rule(leaf_of_row) : grower.grow_tree(leaf_of_row);
}

}  // namespace

Tree grow(const Codes& codes, const Moments& moments, const TreeLimits& growth, int threads,
          std::vector<int32_t>& leaf_of_row) {
    leaf_of_row.assign(moments.rows, 0);
    return moments.outputs == 1 ? grow_with<One>(codes, moments, growth, threads, leaf_of_row)
                                : grow_with<Many>(codes, moments, growth, threads, leaf_of_row);
}

}  // namespace permissible::mcboost
