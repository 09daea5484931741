// See grow.hpp.
#include "trees/boosted/growth/grow.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace permissible::boosted {

namespace {

constexpr std::size_t kParallelCells = 500000;  // a second thread pays from so many additions on

}  // namespace

Grower::Grower(std::vector<Column> columns, TreeOptions options)
    : columns_(std::move(columns)), options_(std::move(options)), layout_(columns_) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        Column& column = columns_[j];
        monotone_ = monotone_ || column.monotone != 0;
        if (column.origin < 0) column.origin = static_cast<int>(j);
        given_ += std::max<std::size_t>(column.members.size(), 1);
    }
    found_[0].resize(columns_.size());
    found_[1].resize(columns_.size());
}

double Grower::side_worth(Sums sums) const {
    const double g = sums.gradient();
    return g * g / (sums.curvature() + l2_);
}

double Grower::worth_at(Sums sums, double value) const {
    return value * (2.0 * sums.gradient() - (sums.curvature() + l2_) * value);
}

void Grower::begin(const SearchRows& rows) {
    gradient_grid_ = rows.gradient_grid, curvature_grid_ = rows.curvature_grid;
    l2_ = options_.l2 * curvature_grid_;
    gain_unit_ = curvature_grid_ / (gradient_grid_ * gradient_grid_);
    const double least = std::ceil(options_.min_curvature * curvature_grid_);
    least_curvature_ = static_cast<int32_t>(std::clamp(least, l2_ > 0.0 ? 0.0 : 1.0, 2147483647.0));
    leaves_.clear();
    leaves_.resize(1);
    leaves_.reserve(options_.max_leaf_nodes);
    leaves_[0].low = -std::numeric_limits<double>::infinity();
    leaves_[0].high = std::numeric_limits<double>::infinity();
    leaves_[0].groups.assign(options_.interactions.size(), 1);
    const std::size_t n = rows.codes ? rows.codes->rows() : 0;
    leaf_.assign(n, 0);
    const std::size_t needed = layout_.size() * options_.max_leaf_nodes;
    if (histograms_.size() < needed) histograms_.resize(needed);
    list_.resize(n + 8);
    asked_.resize(rows.codes ? 0 : cells());
}

int64_t Grower::total_of(const SearchRows& rows) {
    if (!rows.codes) {
        rows.sum({}, 0, asked_.data());
        return asked_.back();
    }
    int64_t total = 0;
    for (std::size_t i = 0; i < rows.codes->rows(); ++i) total += rows.packed[i];
    return total;
}

void Grower::sum_root(const SearchRows& rows) {
    leaves_[0].sums = {total_of(rows)};
    // A side's curvature over that of all rows is its share of the rows.
    const double per_row = rows.weight > 0.0 ? leaves_[0].sums.curvature() / rows.weight : 0.0;
    const double needed = std::ceil(options_.min_samples_leaf * rows.share * per_row);
    if (options_.min_samples_leaf > 1.0)
        least_curvature_ = std::max(least_curvature_, static_cast<int32_t>(std::min(needed, 2147483647.0)));
    search(rows, {nullptr, rows.packed, rows.codes ? rows.codes->rows() : 0}, leaves_[0], nullptr);
}

ScanLimits Grower::limits_of(const Leaf& leaf) const {
    ScanLimits limits;
    limits.l2 = static_cast<float>(l2_);
    limits.least_curvature = least_curvature_;
    limits.category_smoothing = static_cast<float>(options_.category_smoothing * curvature_grid_);
    limits.category_l2 = static_cast<float>(options_.category_l2 * curvature_grid_);
    limits.most_categories = options_.most_categories;
    limits.bounded = monotone_;
    limits.low = leaf.low, limits.high = leaf.high;
    limits.rule = options_.rule, limits.outside = leaf.outside;
    limits.used = given_used_.data();
    return limits;
}

bool Grower::allowed(const Leaf& leaf, std::size_t column) const {
    if (!used_[column] || columns_[column].bins == 0) return false;
    if (options_.interactions.empty()) return true;
    for (std::size_t g = 0; g < leaf.groups.size(); ++g)
        if (leaf.groups[g] && options_.interactions[g][column]) return true;
    return false;
}

void Grower::search(const SearchRows& rows, const RowList& list, Leaf& a, Leaf* b) {
    const ScanLimits limits[2] = {limits_of(a), b ? limits_of(*b) : ScanLimits{}};
    const bool scan[2] = {splittable(a), b && splittable(*b)};
    Leaf* const leaf[2] = {&a, b};
    if (!rows.codes) std::copy(asked_.begin(), asked_.end() - 1, cells(a.slot));
    const auto work = [&](std::size_t block) {
        if (rows.codes) sum_block(*rows.codes, block, list, columns_, used_.data(), layout_, cells(a.slot));
        for (std::size_t j = 8 * block; j < std::min(columns_.size(), 8 * block + 8); ++j) {
            if (!used_[j]) continue;
            const std::size_t at = layout_.begin(j);
            const int width = layout_.width(j);
            if (b) subtract(cells(b->slot) + at, cells(a.slot) + at, static_cast<std::size_t>(width));
            for (int side = 0; side < 2; ++side) {
                found_[side][j].worth = 0.0f;
                if (scan[side] && allowed(*leaf[side], j))
                    found_[side][j] =
                        scan_column(columns_[j], cells(leaf[side]->slot) + at, width, leaf[side]->sums, limits[side]);
            }
        }
    };
    const auto blocks = static_cast<std::ptrdiff_t>((columns_.size() + 7) / 8);
    const bool parallel = options_.threads > 1 && blocks > 1 && list.count * columns_.size() >= kParallelCells;
    const int threads = parallel ? allowed_threads(options_.threads) : 1;
    if (threads == 1) {
        for (std::ptrdiff_t block = 0; block < blocks; ++block) work(static_cast<std::size_t>(block));
    } else {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (std::ptrdiff_t block = 0; block < blocks; ++block) work(static_cast<std::size_t>(block));
    }
    choose(a, found_[0]);
    if (b) choose(*b, found_[1]);
}

/// The best of the columns; ties to the first that was given. The gain is computed again in double precision.
void Grower::choose(Leaf& leaf, const std::vector<Candidate>& found) const {
    leaf.gain = -1.0;
    const Candidate* best = nullptr;
    std::size_t column = 0;
    int origin = 0;
    for (std::size_t j = 0; j < found.size(); ++j) {
        if (!used_[j] || !(found[j].worth > 0.0f) || (best && found[j].worth < best->worth)) continue;
        const int own = origin_of(columns_[j], found[j].split);
        if (best && found[j].worth == best->worth && own > origin) continue;
        best = &found[j], column = j, origin = own;
    }
    if (!best) return;
    leaf.best = *best;
    leaf.best.split.column = static_cast<int>(column);
    const int64_t rest = leaf.outside.packed, own = best->left.packed;  // 0 but for rules
    const Sums left{best->inside_left ? own : own + rest}, right{leaf.sums.packed + rest - left.packed};
    double both = side_worth(left) + side_worth(right);
    double before = side_worth(leaf.sums) + (rest ? side_worth(leaf.outside) : 0.0);
    if (monotone_) {  // of values within the bounds, before as after
        const double own_value = leaf.sums.gradient() / (leaf.sums.curvature() + l2_);
        both = worth_at(left, best->value_left) + worth_at(right, best->value_right);
        before = worth_at(leaf.sums, std::clamp(own_value, leaf.low, leaf.high));
    }
    const double gain = 0.5 * (both - before) * gain_unit_;
    if (gain > options_.min_gain && gain > 0.0) leaf.gain = leaf.best.split.gain = gain;
}

Grower::Leaf Grower::child_of(const Leaf& parent, Sums sums, bool left) const {
    Leaf child;
    child.sums = sums;
    child.depth = parent.depth + 1;
    child.low = parent.low, child.high = parent.high;
    const Candidate& best = parent.best;
    const int direction = direction_of(columns_[best.split.column], best.split.test, best.split.cut);
    if (direction != 0) {
        const double middle = 0.5 * (best.value_left + best.value_right);
        (left == (direction > 0) ? child.high : child.low) = middle;
    }
    child.groups = parent.groups;
    for (std::size_t g = 0; g < child.groups.size(); ++g)
        child.groups[g] &= options_.interactions[g][best.split.column];
    return child;
}

/// The next literal of a rule divides the side inside of it; the other side joins all other rows.
void Grower::close_outside(const Leaf& parent, Leaf& left, Leaf& right) const {
    Leaf &inside = parent.best.inside_left ? left : right, &other = parent.best.inside_left ? right : left;
    inside.outside = {parent.outside.packed + other.sums.packed};
    other.closed = true;
}

RowList Grower::list_of(const SearchRows& rows, const Split& split, uint8_t made, uint8_t wanted) {
    ChunkView view(*rows.codes);
    const std::size_t n = rows.codes->rows();
    std::size_t count = 0;
    for (std::size_t first = 0; first < n; first += kChunk) {
        const std::size_t last = std::min(n, first + kChunk);
        view.move(first, last);
        divide(split, made, view.column(split.column), leaf_.data() + first, 0, last - first);
        count += find_bytes(leaf_.data(), first, last, wanted, list_.data() + count);
    }
    return {list_.data(), rows.packed, count};
}

void Grower::split(const SearchRows& rows, std::size_t at, Tree& tree) {
    const auto made = static_cast<uint8_t>(leaves_.size());
    const Leaf parent = leaves_[at];
    Split split = parent.best.split;
    split.parent = static_cast<uint8_t>(at);
    tree.splits.push_back(split);
    const Sums left = parent.best.left, right{parent.sums.packed - left.packed};
    leaves_.push_back(child_of(parent, right, false));
    leaves_[at] = child_of(parent, left, true);
    if (options_.rule) {
        close_outside(parent, leaves_[at], leaves_.back());
        tree.inside = parent.best.inside_left ? static_cast<int>(at) : made;
    }
    const bool left_smaller = left.curvature() <= right.curvature();
    Leaf& smaller = left_smaller ? leaves_[at] : leaves_.back();
    Leaf& larger = left_smaller ? leaves_.back() : leaves_[at];
    larger.slot = parent.slot;
    smaller.slot = made;
    const bool last = static_cast<int>(leaves_.size()) >= options_.max_leaf_nodes;
    if (last || (!splittable(smaller) && !splittable(larger))) return;
    const uint8_t wanted = left_smaller ? split.parent : made;
    if (!rows.codes) rows.sum(tree.splits, wanted, asked_.data());
    search(rows, rows.codes ? list_of(rows, split, made, wanted) : RowList{}, smaller, &larger);
}

void Grower::use(const std::vector<uint8_t>& given) {
    given_used_ = given;
    used_.assign(columns_.size(), 0);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        const Column& column = columns_[j];
        used_[j] = column.members.empty() ? given[column.origin] : 0;
        for (const int member : column.members) used_[j] |= given[member];
    }
}

Tree Grower::grow(const SearchRows& rows, const std::vector<uint8_t>& used) {
    use(used);
    begin(rows);
    Tree tree;
    sum_root(rows);
    while (static_cast<int>(leaves_.size()) < options_.max_leaf_nodes) {
        std::size_t best = 0;
        for (std::size_t k = 1; k < leaves_.size(); ++k)
            if (leaves_[k].gain > leaves_[best].gain) best = k;
        if (!(leaves_[best].gain > 0.0)) break;
        split(rows, best, tree);
    }
    if (monotone_) {
        const double unit = curvature_grid_ / gradient_grid_;
        for (const Leaf& leaf : leaves_) tree.low.push_back(leaf.low * unit), tree.high.push_back(leaf.high * unit);
    }
    return tree;
}

}  // namespace permissible::boosted
