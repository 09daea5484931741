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

/// Integer moments of a set of rows: outputs gradients, then curvature, then weight.
using Sums = std::vector<int64_t>;

struct Grids {
    double gradient, curvature, weight;
};

struct Split {
    double gain = 0;
    int column = -1, code = -1;
    bool side_left = true;  // for rules: which side stays covered
    Mask mask{};
    Sums left;
};

struct Node {
    std::size_t begin, end;  // rows in the index array
    int depth;
    int parent;  // node whose child this is, -1 for the root
    bool is_left;
    Sums total;
    Split best;
};

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
    Sums total_of(std::size_t begin, std::size_t end) const;
    double score(const int64_t* sums) const;
    double mass(const int64_t* sums) const { return static_cast<double>(sums[outputs_ + 1]) / grids_.weight; }
    bool large_enough(const int64_t* sums) const {
        return mass(sums) >= growth_.min_leaf_weight * (1 - 1e-9) && sums[outputs_ + 1] > 0;
    }
    Split best_split(const Node& node, uint64_t node_seed) const;
    Split column_split(const Node& node, int column, uint64_t seed) const;
    Split best_of_histogram(const std::vector<int64_t>& cells, const Node& node, int column) const;
    Split random_of_histogram(const std::vector<int64_t>& cells, const Node& node, int column, uint64_t seed) const;
    void consider(Split& best, const Node& node, const Sums& left, int column, int code, const Mask& mask) const;
    std::size_t partition(std::size_t begin, std::size_t end, const Split& split);
    void add_leaf(Tree& tree, const Sums& sums) const;

    Codes codes_;
    Growth growth_;
    int threads_, outputs_, width_;
    Grids grids_{};
    std::vector<int64_t> moments_;  // (n, width), row-major: one cache line per row and histogram step
    std::vector<int> columns_;
    std::vector<uint32_t> index_, scratch_;
    Sums everything_;
    bool rule_ = false;
};

// A power-of-two grid on which each term keeps 30 bits or more: sums of up to 2^32 rows fit 63 bits.
double grid_of(const double* values, std::size_t count) {
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(values[i]));
    return grid_for(largest) / 4194304.0;  // 52 - 22 bits
}

void Grower::quantise(const Moments& m) {
    grids_ = {grid_of(m.gradient, m.rows * m.outputs), grid_of(m.curvature, m.rows), grid_of(m.weight, m.rows)};
    moments_.resize(m.rows * width_);
    for (std::size_t i = 0; i < m.rows; ++i) {
        const double keep = m.share ? m.share[i] : 1.0;
        int64_t* out = &moments_[i * width_];
        for (int r = 0; r < outputs_; ++r)
            out[r] = static_cast<int64_t>(std::nearbyint(keep * m.gradient[r * m.rows + i] * grids_.gradient));
        out[outputs_] = static_cast<int64_t>(std::nearbyint(keep * m.curvature[i] * grids_.curvature));
        out[outputs_ + 1] = static_cast<int64_t>(std::nearbyint(keep * m.weight[i] * grids_.weight));
    }
    index_.resize(m.rows);
    scratch_.resize(m.rows);
    std::iota(index_.begin(), index_.end(), 0u);
    everything_ = total_of(0, m.rows);
}

void Grower::choose_columns() {
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

Sums Grower::total_of(std::size_t begin, std::size_t end) const {
    Sums sums(width_, 0);
    for (std::size_t i = begin; i < end; ++i) {
        const int64_t* row = &moments_[index_[i] * static_cast<std::size_t>(width_)];
        for (int k = 0; k < width_; ++k) sums[k] += row[k];
    }
    return sums;
}

double Grower::score(const int64_t* sums) const {
    double squares = 0;
    for (int r = 0; r < outputs_; ++r) {
        const double g = static_cast<double>(sums[r]) / grids_.gradient;
        squares += g * g;
    }
    return squares / (static_cast<double>(sums[outputs_]) / grids_.curvature + growth_.l2 + 1e-12);
}

void Grower::consider(Split& best, const Node& node, const Sums& left, int column, int code, const Mask& mask) const {
    Sums right(width_);
    for (int k = 0; k < width_; ++k) right[k] = node.total[k] - left[k];
    if (!large_enough(left.data()) || !large_enough(right.data())) return;
    double gain = 0;
    bool side_left = true;
    if (rule_) {  // inside against everything outside, for either side of the test
        for (const bool use_left : {true, false}) {
            const Sums& inside = use_left ? left : right;
            Sums outside(width_);
            for (int k = 0; k < width_; ++k) outside[k] = everything_[k] - inside[k];
            const double value = score(inside.data()) + score(outside.data());
            if (value > gain) gain = value, side_left = use_left;
        }
    } else {
        gain = score(left.data()) + score(right.data()) - score(node.total.data());
    }
    if (gain > best.gain) best = {gain, column, code, side_left, mask, left};
}

Mask prefix_mask(int code, bool missing_left) {
    Mask mask{};
    for (int c = 0; c <= code; ++c) mask[c >> 3] |= static_cast<uint8_t>(1u << (c & 7));
    if (missing_left) mask[kMissing >> 3] |= static_cast<uint8_t>(1u << (kMissing & 7));
    return mask;
}

Split Grower::best_of_histogram(const std::vector<int64_t>& cells, const Node& node, int column) const {
    Split best;
    const auto cell = [&](int c) { return &cells[static_cast<std::size_t>(c) * width_]; };
    const int64_t* missing = cell(kMissing);
    const bool has_missing = missing[outputs_ + 1] != 0;
    if (codes_.categorical[column]) {  // by the mean gradient of the categories (Fisher): exact for one output
        std::vector<int> order;
        for (int c = 0; c < 256; ++c)
            if (cell(c)[outputs_ + 1] != 0) order.push_back(c);
        const auto mean = [&](int c) {
            return static_cast<double>(cell(c)[0]) / (static_cast<double>(cell(c)[outputs_]) + 1e-300);
        };
        std::sort(order.begin(), order.end(),
                  [&](int a, int b) { return mean(a) != mean(b) ? mean(a) < mean(b) : a < b; });
        Sums left(width_, 0);
        Mask mask{};
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
            for (int j = 0; j < width_; ++j) left[j] += cell(order[k])[j];
            mask[order[k] >> 3] |= static_cast<uint8_t>(1u << (order[k] & 7));
            consider(best, node, left, column, -1, mask);
        }
        return best;
    }
    for (const bool missing_left : {false, true}) {
        if (missing_left && !has_missing) break;
        Sums left(width_, 0);
        if (missing_left) left.assign(missing, missing + width_);
        for (int c = 0; c < kMissing; ++c) {
            if (cell(c)[outputs_ + 1] == 0) continue;
            for (int j = 0; j < width_; ++j) left[j] += cell(c)[j];
            const double before = best.gain;
            consider(best, node, left, column, c, Mask{});
            if (best.gain > before) best.mask = prefix_mask(c, missing_left);
        }
    }
    return best;
}

Split Grower::random_of_histogram(const std::vector<int64_t>& cells, const Node& node, int column,
                                  uint64_t seed) const {
    Split best;
    std::vector<int> present;
    for (int c = 0; c < kMissing; ++c)
        if (cells[static_cast<std::size_t>(c) * width_ + outputs_ + 1] != 0) present.push_back(c);
    const bool has_missing = cells[static_cast<std::size_t>(kMissing) * width_ + outputs_ + 1] != 0;
    const bool missing_left = has_missing && (mixed(seed ^ 77) & 1);
    Mask mask{};
    int code = -1;
    if (codes_.categorical[column]) {
        for (const int c : present)
            if (mixed(seed ^ mixed(c)) & 1) mask[c >> 3] |= static_cast<uint8_t>(1u << (c & 7));
        if (missing_left) mask[kMissing >> 3] |= static_cast<uint8_t>(1u << (kMissing & 7));
    } else {
        if (present.empty()) return best;
        const int low = present.front(), high = present.back();
        if (high > low)
            code = low + static_cast<int>(mixed(seed) % static_cast<uint64_t>(high - low));
        else if (has_missing)
            code = high;
        else
            return best;
        mask = prefix_mask(code, missing_left);
    }
    Sums left(width_, 0);
    for (int c = 0; c < 256; ++c)
        if (in_mask(mask, static_cast<uint8_t>(c)))
            for (int j = 0; j < width_; ++j) left[j] += cells[static_cast<std::size_t>(c) * width_ + j];
    consider(best, node, left, column, code, mask);
    return best;
}

Split Grower::column_split(const Node& node, int column, uint64_t seed) const {
    std::vector<int64_t> cells(static_cast<std::size_t>(256) * width_, 0);
    const uint8_t* codes = codes_.column(column);
    const auto width = static_cast<std::size_t>(width_);
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const std::size_t row = index_[i];
        int64_t* cell = &cells[codes[row * 8] * width];
        const int64_t* moment = &moments_[row * width];
        for (std::size_t k = 0; k < width; ++k) cell[k] += moment[k];
    }
    return growth_.random_thresholds ? random_of_histogram(cells, node, column, seed)
                                     : best_of_histogram(cells, node, column);
}

Split Grower::best_split(const Node& node, uint64_t node_seed) const {
    const auto count = static_cast<std::ptrdiff_t>(columns_.size());
    std::vector<Split> found(count);
    const int threads = (node.end - node.begin) * columns_.size() < kSerialCells ? 1 : threads_;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::ptrdiff_t k = 0; k < count; ++k)
        found[k] = column_split(node, columns_[k], mixed(node_seed ^ mixed(columns_[k] + 1)));
    Split best;
    for (auto& split : found)  // the first column among equals
        if (split.gain > best.gain) best = std::move(split);
    return best;
}

std::size_t Grower::partition(std::size_t begin, std::size_t end, const Split& split) {
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

void Grower::add_leaf(Tree& tree, const Sums& sums) const {
    const double h = static_cast<double>(sums[outputs_]) / grids_.curvature + growth_.l2;
    for (int r = 0; r < outputs_; ++r) {
        const double g = static_cast<double>(sums[r]) / grids_.gradient;
        tree.value.push_back(h > 0 ? -g / h : 0.0);
    }
}

Tree Grower::grow_tree(std::vector<int32_t>& leaf_of_row) {
    Tree tree;
    tree.outputs = outputs_;
    std::vector<Node> open{{0, index_.size(), 0, -1, true, everything_, {}}};
    uint64_t made = 0;
    const auto prepare = [&](Node& node) {
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
        Node node = std::move(open[pick]);
        const auto id = static_cast<int>(tree.column.size());
        if (node.parent >= 0) (node.is_left ? tree.left : tree.right)[node.parent] = id;
        tree.column.push_back(node.best.column);
        tree.code.push_back(node.best.code);
        tree.mask.push_back(node.best.mask);
        tree.left.push_back(0);
        tree.right.push_back(0);
        const std::size_t middle = partition(node.begin, node.end, node.best);
        Node left{node.begin, middle, node.depth + 1, id, true, node.best.left, {}};
        Node right{middle, node.end, node.depth + 1, id, false, Sums(width_), {}};
        for (int k = 0; k < width_; ++k) right.total[k] = node.total[k] - left.total[k];
        prepare(left);
        prepare(right);
        open[pick] = std::move(left);
        open.push_back(std::move(right));
    }
    for (std::size_t k = 0; k < open.size(); ++k) {
        const Node& node = open[k];
        if (node.parent >= 0) (node.is_left ? tree.left : tree.right)[node.parent] = ~static_cast<int32_t>(k);
        add_leaf(tree, node.total);
        for (std::size_t i = node.begin; i < node.end; ++i) leaf_of_row[index_[i]] = static_cast<int32_t>(k);
    }
    return tree;
}

Tree Grower::grow_rule(std::vector<int32_t>& leaf_of_row) {
    rule_ = true;
    Tree tree;
    tree.outputs = outputs_;
    Node node{0, index_.size(), 0, -1, true, everything_, {}};
    double reached = score(everything_.data());
    for (int literal = 0; literal < growth_.max_literals; ++literal) {
        const Split split = best_split(node, mixed(growth_.seed + literal + 1));
        if (split.column < 0 || !(split.gain > reached * (1 + 1e-12) + 1e-12)) break;
        reached = split.gain;
        const auto id = static_cast<int>(tree.column.size());
        if (id > 0) (node.is_left ? tree.left : tree.right)[id - 1] = id;
        tree.column.push_back(split.column);
        tree.code.push_back(split.code);
        tree.mask.push_back(split.mask);
        tree.left.push_back(~0);
        tree.right.push_back(~0);
        const std::size_t middle = partition(node.begin, node.end, split);
        Node next{split.side_left ? node.begin : middle,
                  split.side_left ? middle : node.end,
                  literal + 1,
                  id,
                  split.side_left,
                  split.left,
                  {}};
        if (!split.side_left)
            for (int k = 0; k < width_; ++k) next.total[k] = node.total[k] - split.left[k];
        node = std::move(next);
    }
    std::fill(leaf_of_row.begin(), leaf_of_row.end(), 0);
    if (tree.column.empty()) {
        add_leaf(tree, everything_);
        return tree;
    }
    (node.is_left ? tree.left : tree.right).back() = ~1;
    Sums outside(width_);
    for (int k = 0; k < width_; ++k) outside[k] = everything_[k] - node.total[k];
    add_leaf(tree, outside);
    add_leaf(tree, node.total);
    for (std::size_t i = node.begin; i < node.end; ++i) leaf_of_row[index_[i]] = 1;
    return tree;
}

}  // namespace

Tree grow(const Codes& codes, const Moments& moments, const Growth& growth, int threads,
          std::vector<int32_t>& leaf_of_row) {
    leaf_of_row.assign(moments.rows, 0);
    Grower grower(codes, moments, growth, threads);
    return growth.max_literals > 0 ? grower.grow_rule(leaf_of_row) : grower.grow_tree(leaf_of_row);
}

}  // namespace permissible::mcboost
