// See grow.hpp.
#include "trees/boosted/growth/grow.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace permissible::boosted {

namespace {

constexpr std::size_t kParallelCells = 500000;  // of all rows that are searched, from which a second thread pays
constexpr int kAhead = 8;                       // leaves divided before their turn that may turn out to be in vain

}  // namespace

Grower::Grower(std::vector<Column> columns, TreeOptions options)
    : columns_(std::move(columns)), options_(std::move(options)), layout_(columns_) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        Column& column = columns_[j];
        monotone_ = monotone_ || column.monotone != 0;
        if (column.origin < 0) column.origin = static_cast<int>(j);
        given_ += std::max<std::size_t>(column.members.size(), 1);
    }
    for (std::vector<Candidate>& found : found_) found.resize(columns_.size());
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
    halves_.clear();
    halves_.reserve(options_.max_leaf_nodes + kAhead);
    marks_ = 1;
    leaves_[0].low = -std::numeric_limits<double>::infinity();
    leaves_[0].high = std::numeric_limits<double>::infinity();
    leaves_[0].groups.assign(options_.interactions.size(), 1);
    const std::size_t n = rows.codes ? rows.codes->rows() : 0;
    leaf_.assign(n, 0);
    const int threads = threads_for(rows), ahead = threads > 1 ? kAhead : 0;
    const std::size_t needed = layout_.size() * std::min(options_.max_leaf_nodes + ahead, kMostLeaves);
    if (histograms_.size() < needed) histograms_.resize(needed);
    for (int k = 0; k < (threads > 1 ? 2 : 1); ++k) numbers_[k].resize(n + 8 * threads);
    asked_.resize(rows.codes ? 0 : cells());
}

int64_t Grower::total_of(const SearchRows& rows) {
    if (!rows.codes) {
        rows.sum({}, 0, asked_.data());
        return asked_.back();
    }
    return std::accumulate(rows.packed, rows.packed + rows.codes->rows(), int64_t{0});
}

void Grower::sum_root(const SearchRows& rows) {
    leaves_[0].sums = {total_of(rows)};
    // A side's curvature over that of all rows is its share of the rows.
    const double per_row = rows.weight > 0.0 ? leaves_[0].sums.curvature() / rows.weight : 0.0;
    const double needed = std::ceil(options_.min_samples_leaf * rows.share * per_row);
    if (options_.min_samples_leaf > 1.0)
        least_curvature_ = std::max(least_curvature_, static_cast<int32_t>(std::min(needed, 2147483647.0)));
    Halves root;
    root.left = leaves_[0], root.right.closed = root.alone = true;
    search(rows, {&root});
    leaves_[0] = root.left;
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

int Grower::threads_for(const SearchRows& rows) const {
    const bool many = rows.codes && rows.codes->rows() * columns_.size() >= kParallelCells;
    return many && options_.threads > 1 ? allowed_threads(options_.threads) : 1;
}

void Grower::divide_piece(const SearchRows& rows, const std::vector<Halves*>& all, std::size_t piece,
                          std::size_t pieces) {
    const std::size_t n = rows.codes->rows(), chunks = (n + kChunk - 1) / kChunk;
    const std::size_t begin = chunks * piece / pieces * kChunk, end = chunks * (piece + 1) / pieces * kChunk;
    ChunkView view(*rows.codes);
    for (std::size_t k = 0; k < all.size(); ++k)
        lists_[k][piece] = {numbers_[k].data() + begin + 8 * piece, rows.packed, 0};
    for (std::size_t first = begin; first < std::min(n, end); first += kChunk) {
        const std::size_t last = std::min(n, first + kChunk);
        view.move(first, last);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const Split& split = all[k]->split;
            uint32_t* to = numbers_[k].data() + begin + 8 * piece + lists_[k][piece].count;
            divide(split, all[k]->right.mark, view.column(split.column), leaf_.data() + first, 0, last - first);
            lists_[k][piece].count += find_bytes(leaf_.data(), first, last, all[k]->summed().mark, to);
        }
    }
}

void Grower::search_block(const SearchRows& rows, const Halves& halves, std::size_t k, std::size_t block) {
    int64_t *summed = cells(halves.summed().slot), *rest = cells(halves.rest().slot);
    const Leaf* const half[2] = {&halves.left, &halves.right};
    const ScanLimits limits[2] = {limits_of(halves.left), limits_of(halves.right)};
    if (rows.codes) sum_block(*rows.codes, block, lists_[k], columns_, used_.data(), layout_, summed);
    for (std::size_t j = 8 * block; j < std::min(columns_.size(), 8 * block + 8); ++j) {
        if (!used_[j]) continue;
        const std::size_t at = layout_.begin(j);
        const int width = layout_.width(j);
        if (!halves.alone) subtract(rest + at, summed + at, static_cast<std::size_t>(width));
        for (std::size_t side = 0; side < 2; ++side) {
            Candidate& found = found_[2 * k + side][j];
            const Leaf& leaf = *half[side];
            found.worth = 0.0f;
            if (splittable(leaf) && allowed(leaf, j))
                found = scan_column(columns_[j], cells(leaf.slot) + at, width, leaf.sums, limits[side]);
        }
    }
}

void Grower::search(const SearchRows& rows, const std::vector<Halves*>& all) {
    const std::size_t blocks = (columns_.size() + 7) / 8;
    const int threads = threads_for(rows);
    const bool divided = rows.codes && !all[0]->alone;
    for (std::size_t k = 0; k < all.size(); ++k)
        lists_[k].assign(divided ? threads : 1, {nullptr, rows.packed, rows.codes ? rows.codes->rows() : 0});
    if (!rows.codes) std::copy(asked_.begin(), asked_.end() - 1, cells(all[0]->summed().slot));
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static, 1)
        for (int piece = 0; piece < threads; ++piece)
            if (divided) divide_piece(rows, all, static_cast<std::size_t>(piece), static_cast<std::size_t>(threads));
#pragma omp for schedule(dynamic, 1) nowait
        for (std::size_t k = 0; k < blocks * all.size(); ++k)
            search_block(rows, *all[k / blocks], k / blocks, k % blocks);
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
        choose(all[k]->left, found_[2 * k]);
        choose(all[k]->right, found_[2 * k + 1]);
    }
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

void Grower::halve(std::size_t at, std::vector<Halves*>& all) {
    Leaf& parent = leaves_[at];
    const Sums left = parent.best.left, right{parent.sums.packed - left.packed};
    Halves halves{child_of(parent, left, true), child_of(parent, right, false), parent.best.split};
    if (options_.rule) close_outside(parent, halves.left, halves.right);
    halves.split.parent = halves.left.mark = parent.mark;
    halves.right.mark = static_cast<uint8_t>(marks_++);
    halves.left_summed = left.curvature() <= right.curvature();
    halves.left.slot = halves.left_summed ? halves.right.mark : parent.slot;
    halves.right.slot = halves.left_summed ? parent.slot : halves.right.mark;
    parent.halves = static_cast<int>(halves_.size());
    halves_.push_back(std::move(halves));
    if (splittable(halves_.back().left) || splittable(halves_.back().right)) all.push_back(&halves_.back());
}

int Grower::best_leaf(bool undivided) const {
    int best = -1;
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
        if (!(leaves_[k].gain > 0.0) || (undivided && leaves_[k].halves >= 0)) continue;
        if (best < 0 || leaves_[k].gain > leaves_[best].gain) best = static_cast<int>(k);
    }
    return best;
}

void Grower::split(const SearchRows& rows, std::size_t at, Tree& tree) {
    const int made = static_cast<int>(leaves_.size()), left = options_.max_leaf_nodes - made;
    tree.splits.push_back(leaves_[at].best.split);
    tree.splits.back().parent = static_cast<uint8_t>(at);
    if (options_.rule) tree.inside = leaves_[at].best.inside_left ? static_cast<int>(at) : made;
    if (leaves_[at].halves < 0) {
        std::vector<Halves*> all;
        halve(at, all);
        // The halves of the last split are not searched: no leaf is divided ahead of the last two.
        const int ahead = marks_ - made - 1, most = std::min(kAhead, kMostLeaves - options_.max_leaf_nodes);
        const int second = left > 2 && ahead < most && threads_for(rows) > 1 ? best_leaf(true) : -1;
        if (second >= 0) halve(static_cast<std::size_t>(second), all);
        if (!rows.codes && left > 1 && !all.empty()) rows.sum(tree.splits, all[0]->summed().mark, asked_.data());
        if (left > 1 && !all.empty()) search(rows, all);
    }
    const Halves& halves = halves_[leaves_[at].halves];
    leaves_.push_back(halves.right);
    leaves_[at] = halves.left;
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
        const int best = best_leaf(false);
        if (best < 0) break;
        split(rows, static_cast<std::size_t>(best), tree);
    }
    if (monotone_) {
        const double unit = curvature_grid_ / gradient_grid_;
        for (const Leaf& leaf : leaves_) tree.low.push_back(leaf.low * unit), tree.high.push_back(leaf.high * unit);
    }
    return tree;
}

}  // namespace permissible::boosted
