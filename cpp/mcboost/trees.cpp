// Best-first growth: every open leaf knows its best split; the one that explains most is split next. A rule is the same
// with one open side: the rows that pass every literal so far; all others share one leaf.
#include "mcboost/trees.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/exact_sum.hpp"
#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

constexpr int kMissing = 255;

uint64_t mixed(uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/// Integer moments of a set of rows: gradients, then curvature, then weight. One gradient in a coordinate step, M-1
/// along the whole gradient.
template <typename Sums>
Sums zeros(int width) {
    if constexpr (requires(Sums sums) { sums.resize(1); })
        return Sums(width, 0);
    else
        return Sums{};
}
using One = std::array<int64_t, 3>;
using Many = std::vector<int64_t>;

struct Grids {
    double gradient, curvature, weight;
};

template <typename Sums>
struct Split {
    double gain = 0;
    int column = -1, code = -1;
    bool side_left = true;  // for rules: which side stays covered
    Mask mask{};
    Sums left{};
};

template <typename Sums>
struct Node {
    std::size_t begin, end;  // rows in the index array
    int depth;
    int parent;  // node whose child this is, -1 for the root
    bool is_left;
    Sums total;
    Split<Sums> best;
};

template <typename Sums>
class Grower {
  public:
    Grower(const Codes& codes, const Moments& moments, const Growth& growth, int threads)
        : codes_(codes), growth_(growth), threads_(threads), outputs_(moments.outputs), width_(moments.outputs + 2) {
        quantise(moments);
        choose_columns();
    }

    Tree grow_tree(std::vector<int32_t>& leaf_of_row);
    Tree grow_rule(std::vector<int32_t>& leaf_of_row);

  private:
    void quantise(const Moments& moments);
    void choose_columns();
    double score(const Sums& sums) const;
    bool large_enough(const Sums& sums) const {
        return sums[outputs_ + 1] > 0 && static_cast<double>(sums[outputs_ + 1]) >= least_;
    }
    void add(Sums& to, const int64_t* from) const {
        for (int k = 0; k < width_; ++k) to[k] += from[k];
    }
    Sums difference(const Sums& a, const Sums& b) const {
        Sums out = a;
        for (int k = 0; k < width_; ++k) out[k] -= b[k];
        return out;
    }
    Split<Sums> best_split(const Node<Sums>& node, uint64_t node_seed) const;
    Split<Sums> exact_split(const Node<Sums>& node, int column) const;
    Split<Sums> category_split(const Node<Sums>& node, int column, const std::vector<int64_t>& cells) const;
    Split<Sums> random_split(const Node<Sums>& node, int column, uint64_t seed) const;
    bool consider(Split<Sums>& best, const Node<Sums>& node, const Sums& left, int column, int code) const;
    std::size_t partition(std::size_t begin, std::size_t end, const Split<Sums>& split);
    void add_leaf(Tree& tree, const Sums& sums) const;
    void route_others(const Tree& tree, std::vector<int32_t>& leaf_of_row) const;

    Codes codes_;
    Growth growth_;
    int threads_, outputs_, width_;
    double least_ = 0;
    Grids grids_{};
    std::vector<int64_t> moments_;  // (n, width), row-major
    std::vector<int> columns_;
    std::vector<uint32_t> index_, others_, scratch_;  // rows of the fit, rows left out of it
    Sums everything_;
    bool rule_ = false;
};

// A power-of-two grid on which each term keeps as many bits, up to 52, as leave room for the sum over all rows in 62.
double grid_of(const double* values, std::size_t count, std::size_t rows) {
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(values[i]));
    int bits = 0;
    while ((std::size_t{1} << bits) < rows) ++bits;
    return std::ldexp(grid_for(largest), -std::max(0, bits - 10));
}

template <typename Sums>
void Grower<Sums>::quantise(const Moments& m) {
    grids_ = {grid_of(m.gradient, m.rows * m.outputs, m.rows), grid_of(m.curvature, m.rows, m.rows),
              grid_of(m.weight, m.rows, m.rows)};
    least_ = growth_.min_leaf_weight * (1 - 1e-9) * grids_.weight;
    moments_.resize(m.rows * width_);
    everything_ = zeros<Sums>(width_);
    index_.reserve(m.rows);
    for (std::size_t i = 0; i < m.rows; ++i) {
        if (m.share && m.share[i] == 0) {
            others_.push_back(static_cast<uint32_t>(i));
            continue;
        }
        index_.push_back(static_cast<uint32_t>(i));
        int64_t* out = &moments_[i * width_];
        for (int r = 0; r < outputs_; ++r)
            out[r] = static_cast<int64_t>(std::nearbyint(m.gradient[r * m.rows + i] * grids_.gradient));
        out[outputs_] = static_cast<int64_t>(std::nearbyint(m.curvature[i] * grids_.curvature));
        out[outputs_ + 1] = static_cast<int64_t>(std::nearbyint(m.weight[i] * grids_.weight));
        add(everything_, out);
    }
    scratch_.resize(index_.size());
}

template <typename Sums>
void Grower<Sums>::choose_columns() {
    columns_.resize(codes_.columns);
    std::iota(columns_.begin(), columns_.end(), 0);
    if (growth_.column_share >= 1.0) return;
    const auto kept =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(growth_.column_share * codes_.columns)));
    std::sort(columns_.begin(), columns_.end(), [&](int a, int b) {
        const uint64_t ka = mixed(growth_.seed ^ mixed(a + 1)), kb = mixed(growth_.seed ^ mixed(b + 1));
        return ka != kb ? ka < kb : a < b;
    });
    columns_.resize(std::min(kept, columns_.size()));
    std::sort(columns_.begin(), columns_.end());
}

template <typename Sums>
double Grower<Sums>::score(const Sums& sums) const {
    double squares = 0;
    for (int r = 0; r < outputs_; ++r) {
        const double g = static_cast<double>(sums[r]) / grids_.gradient;
        squares += g * g;
    }
    return squares / (static_cast<double>(sums[outputs_]) / grids_.curvature + growth_.l2 + 1e-12);
}

template <typename Sums>
bool Grower<Sums>::consider(Split<Sums>& best, const Node<Sums>& node, const Sums& left, int column, int code) const {
    const Sums right = difference(node.total, left);
    if (!large_enough(left) || !large_enough(right)) return false;
    double gain = 0;
    bool side_left = true;
    if (rule_) {  // inside against everything outside, for either side of the test
        gain = score(left) + score(difference(everything_, left));
        const double other = score(right) + score(difference(everything_, right));
        if (other > gain) gain = other, side_left = false;
    } else {
        gain = score(left) + score(right) - score(node.total);
    }
    if (!(gain > best.gain)) return false;
    best.gain = gain;
    best.column = column;
    best.code = code;
    best.side_left = side_left;
    best.left = left;
    return true;
}

void set_bit(Mask& mask, int code) {
    mask[code >> 3] |= static_cast<uint8_t>(1u << (code & 7));
}

Mask prefix_mask(int code, bool missing_left) {
    Mask mask{};
    for (int c = 0; c <= code; ++c) set_bit(mask, c);
    if (missing_left) set_bit(mask, kMissing);
    return mask;
}

template <typename Sums>
Split<Sums> Grower<Sums>::category_split(const Node<Sums>& node, int column, const std::vector<int64_t>& cells) const {
    const auto cell = [&](int c) { return &cells[static_cast<std::size_t>(c) * width_]; };
    std::vector<int> order;  // by the mean gradient of the categories (Fisher): exact for one output
    for (int c = 0; c < 256; ++c)
        if (cell(c)[outputs_ + 1] != 0) order.push_back(c);
    const auto mean = [&](int c) {
        return static_cast<double>(cell(c)[0]) / (static_cast<double>(cell(c)[outputs_]) + 1e-300);
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return mean(a) != mean(b) ? mean(a) < mean(b) : a < b; });
    Split<Sums> best;
    Sums left = zeros<Sums>(width_);
    Mask mask{};
    for (std::size_t k = 0; k + 1 < order.size(); ++k) {
        add(left, cell(order[k]));
        set_bit(mask, order[k]);
        if (consider(best, node, left, column, -1)) best.mask = mask;
    }
    return best;
}

template <typename Sums>
Split<Sums> Grower<Sums>::exact_split(const Node<Sums>& node, int column) const {
    const auto width = static_cast<std::size_t>(width_);
    const bool categories = codes_.categorical[column];
    const int bins = categories ? 255 : codes_.bins[column];
    std::vector<int64_t> cells((categories ? 256 : bins + 1) * width, 0);  // the last one holds the missing values
    const int missing_at = categories ? kMissing : bins;
    const uint8_t* codes = codes_.column(column);
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const std::size_t row = index_[i];
        const uint8_t code = codes[row * 8];
        int64_t* cell = &cells[(code == kMissing ? missing_at : code) * width];
        const int64_t* moment = &moments_[row * width];
        for (std::size_t k = 0; k < width; ++k) cell[k] += moment[k];
    }
    if (categories) return category_split(node, column, cells);
    const int64_t* missing = &cells[missing_at * width];
    Split<Sums> best;
    bool best_missing_left = false;
    for (const bool missing_left : {false, true}) {
        if (missing_left && missing[outputs_ + 1] == 0) break;
        Sums left = zeros<Sums>(width_);
        if (missing_left) add(left, missing);
        for (int c = 0; c < bins; ++c) {
            const int64_t* cell = &cells[c * width];
            if (cell[outputs_ + 1] == 0) continue;
            add(left, cell);
            if (consider(best, node, left, column, c)) best_missing_left = missing_left;
        }
    }
    if (best.column >= 0) best.mask = prefix_mask(best.code, best_missing_left);
    return best;
}

// One random test: a threshold between the smallest and the largest code of the node, or a random set of categories.
template <typename Sums>
Split<Sums> Grower<Sums>::random_split(const Node<Sums>& node, int column, uint64_t seed) const {
    const uint8_t* codes = codes_.column(column);
    Split<Sums> best;
    Mask mask{};
    int code = -1;
    if (codes_.categorical[column]) {
        for (int c = 0; c < 256; ++c)
            if (mixed(seed ^ mixed(c)) & 1) set_bit(mask, c);
    } else {
        int low = kMissing, high = -1;
        bool has_missing = false;
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const int value = codes[static_cast<std::size_t>(index_[i]) * 8];
            if (value == kMissing) {
                has_missing = true;
                continue;
            }
            low = std::min(low, value);
            high = std::max(high, value);
        }
        if (high < 0 || (low == high && !has_missing)) return best;
        code = low == high ? high : low + static_cast<int>(mixed(seed) % static_cast<uint64_t>(high - low));
        mask = prefix_mask(code, has_missing && low != high && (mixed(seed ^ 77) & 1));
    }
    Sums left = zeros<Sums>(width_);
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const std::size_t row = index_[i];
        if (in_mask(mask, codes[row * 8])) add(left, &moments_[row * static_cast<std::size_t>(width_)]);
    }
    if (consider(best, node, left, column, code)) best.mask = mask;
    return best;
}

template <typename Sums>
Split<Sums> Grower<Sums>::best_split(const Node<Sums>& node, uint64_t node_seed) const {
    const auto count = static_cast<std::ptrdiff_t>(columns_.size());
    std::vector<Split<Sums>> found(count);
    const int threads = (node.end - node.begin) * columns_.size() < kSerialCells ? 1 : threads_;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        const int column = columns_[k];
        found[k] = growth_.random_thresholds ? random_split(node, column, mixed(node_seed ^ mixed(column + 1)))
                                             : exact_split(node, column);
    }
    Split<Sums> best;
    for (auto& split : found)  // the first column among equals
        if (split.gain > best.gain) best = std::move(split);
    return best;
}

template <typename Sums>
std::size_t Grower<Sums>::partition(std::size_t begin, std::size_t end, const Split<Sums>& split) {
    const uint8_t* codes = codes_.column(split.column);
    std::size_t left = begin, right = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const uint32_t row = index_[i];
        if (in_mask(split.mask, codes[static_cast<std::size_t>(row) * 8]))
            index_[left++] = row;
        else
            scratch_[right++] = row;
    }
    std::copy(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(right),
              index_.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
}

template <typename Sums>
void Grower<Sums>::add_leaf(Tree& tree, const Sums& sums) const {
    const double h = static_cast<double>(sums[outputs_]) / grids_.curvature + growth_.l2;
    for (int r = 0; r < outputs_; ++r) {
        const double g = static_cast<double>(sums[r]) / grids_.gradient;
        tree.value.push_back(h > 0 ? -g / h : 0.0);
    }
}

template <typename Sums>
void Grower<Sums>::route_others(const Tree& tree, std::vector<int32_t>& leaf_of_row) const {
    if (tree.column.empty()) return;
    for (const uint32_t row : others_) {
        int node = 0;
        while (node >= 0) {
            const uint8_t code = codes_.column(tree.column[node])[static_cast<std::size_t>(row) * 8];
            node = in_mask(tree.mask[node], code) ? tree.left[node] : tree.right[node];
        }
        leaf_of_row[row] = ~node;
    }
}

void add_node(Tree& tree, int column, int code, const Mask& mask) {
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
    std::vector<Node<Sums>> open{{0, index_.size(), 0, -1, true, everything_, {}}};
    uint64_t made = 0;
    const auto prepare = [&](Node<Sums>& node) {
        ++made;
        if (growth_.max_depth <= 0 || node.depth < growth_.max_depth)
            node.best = best_split(node, mixed(growth_.seed + made));
    };
    prepare(open[0]);
    while (static_cast<int>(open.size()) < growth_.max_leaves) {
        std::size_t pick = open.size();
        double gain = 1e-12;
        for (std::size_t k = 0; k < open.size(); ++k)
            if (open[k].best.gain > gain) gain = open[k].best.gain, pick = k;
        if (pick == open.size()) break;
        const Node<Sums> node = std::move(open[pick]);
        const auto id = static_cast<int>(tree.column.size());
        if (node.parent >= 0) (node.is_left ? tree.left : tree.right)[node.parent] = id;
        add_node(tree, node.best.column, node.best.code, node.best.mask);
        const std::size_t middle = partition(node.begin, node.end, node.best);
        Node<Sums> left{node.begin, middle, node.depth + 1, id, true, node.best.left, {}};
        Node<Sums> right{middle, node.end, node.depth + 1, id, false, difference(node.total, node.best.left), {}};
        if (static_cast<int>(open.size()) + 1 < growth_.max_leaves) {  // else these are the last leaves
            prepare(left);
            prepare(right);
        }
        open[pick] = std::move(left);
        open.push_back(std::move(right));
    }
    for (std::size_t k = 0; k < open.size(); ++k) {
        const Node<Sums>& node = open[k];
        if (node.parent >= 0) (node.is_left ? tree.left : tree.right)[node.parent] = ~static_cast<int32_t>(k);
        add_leaf(tree, node.total);
        for (std::size_t i = node.begin; i < node.end; ++i) leaf_of_row[index_[i]] = static_cast<int32_t>(k);
    }
    route_others(tree, leaf_of_row);
    return tree;
}

template <typename Sums>
Tree Grower<Sums>::grow_rule(std::vector<int32_t>& leaf_of_row) {
    rule_ = true;
    Tree tree;
    tree.outputs = outputs_;
    Node<Sums> node{0, index_.size(), 0, -1, true, everything_, {}};
    double reached = score(everything_);
    for (int literal = 0; literal < growth_.max_literals; ++literal) {
        const Split<Sums> split = best_split(node, mixed(growth_.seed + literal + 1));
        if (split.column < 0 || !(split.gain > reached * (1 + 1e-12) + 1e-12)) break;
        reached = split.gain;
        const auto id = static_cast<int>(tree.column.size());
        if (id > 0) (node.is_left ? tree.left : tree.right)[id - 1] = id;
        add_node(tree, split.column, split.code, split.mask);
        const std::size_t middle = partition(node.begin, node.end, split);
        const Sums inside = split.side_left ? split.left : difference(node.total, split.left);
        node = {split.side_left ? node.begin : middle,
                split.side_left ? middle : node.end,
                literal + 1,
                id,
                split.side_left,
                inside,
                {}};
    }
    if (tree.column.empty()) {
        add_leaf(tree, everything_);
        return tree;
    }
    (node.is_left ? tree.left : tree.right).back() = ~1;
    add_leaf(tree, difference(everything_, node.total));
    add_leaf(tree, node.total);
    for (std::size_t i = node.begin; i < node.end; ++i) leaf_of_row[index_[i]] = 1;
    route_others(tree, leaf_of_row);
    return tree;
}

template <typename Sums>
Tree grow_with(const Codes& codes, const Moments& moments, const Growth& growth, int threads,
               std::vector<int32_t>& leaf_of_row) {
    Grower<Sums> grower(codes, moments, growth, threads);
    return growth.max_literals > 0 ? grower.grow_rule(leaf_of_row) : grower.grow_tree(leaf_of_row);
}

}  // namespace

Tree grow(const Codes& codes, const Moments& moments, const Growth& growth, int threads,
          std::vector<int32_t>& leaf_of_row) {
    leaf_of_row.assign(moments.rows, 0);
    return moments.outputs == 1 ? grow_with<One>(codes, moments, growth, threads, leaf_of_row)
                                : grow_with<Many>(codes, moments, growth, threads, leaf_of_row);
}

}  // namespace permissible::mcboost
