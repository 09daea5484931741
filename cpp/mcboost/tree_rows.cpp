// See tree_rows.hpp.
#include "mcboost/tree_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace permissible::mcboost {

using boosted::over_rows;

namespace {

/// Sizes compare as the integers that their bits are.
PERMISSIBLE_WIDE_CLONES
float largest_size(const float* values, std::size_t n) {
    int32_t most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        int32_t bits;
        std::memcpy(&bits, values + i, sizeof bits);
        most = std::max(most, bits & 0x7fffffff);
    }
    float found;
    std::memcpy(&found, &most, sizeof found);
    return found;
}

PERMISSIBLE_WIDE_CLONES
int64_t sum_of_sizes(const float* values, std::size_t n, float grid) {
    int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<int32_t>(std::fabs(values[i]) * grid);
    return sum;
}

PERMISSIBLE_WIDE_CLONES
void pack_rows(const float* g, const float* h, std::size_t n, float by_g, float by_h, int64_t* packed) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto a = static_cast<int32_t>(std::nearbyintf(g[i] * by_g));
        const auto b = static_cast<int32_t>(std::nearbyintf(h[i] * by_h));
        packed[i] = (static_cast<int64_t>(a) << 32) + b;
    }
}

}  // namespace

TreeRows::TreeRows(RowScores of, boosted::Codes codes, std::vector<boosted::Column> columns, std::vector<uint32_t> hash,
                   int threads)
    : scores(std::move(of)),
      codes_(std::move(codes)),
      columns_(std::move(columns)),
      layout_(columns_),
      own_hash_(std::move(hash)),
      hash_(own_hash_.data()),
      hashed_(own_hash_.size() == codes_.rows()),
      threads_(threads) {}

void TreeRows::drop() {
    scores.drop();
    sample_ = {}, taken_ = {}, packed_ = std::vector<int64_t>();  // {} would keep the memory of a vector
    grower_.reset();
}

std::vector<uint8_t> TreeRows::leaves_of(const Shape& tree, const boosted::Codes& codes) const {
    std::vector<uint8_t> leaf(codes.rows(), 0);
    over_rows(codes.rows(), threads_, [&](int, std::size_t begin, std::size_t end) {
        boosted::find_leaves(tree.splits.data(), tree.splits.size(), codes, leaf.data(), begin, end);
        if (tree.inside < 0) return;
        for (std::size_t i = begin; i < end; ++i) leaf[i] = leaf[i] == tree.inside;
    });
    return leaf;
}

Seen TreeRows::take(const Shape& tree, const double* step, const Outlook& outlook) {
    const std::size_t n = scores.rows();
    const std::vector<uint8_t> leaf = leaves_of(tree, codes_);
    std::vector<double> factor;
    if (step) factor = scores.factors(step, tree.leaves());
    along_ = outlook.along, sampled_ = outlook.sampled;
    std::vector<Terms> terms(std::max(1, threads_));
    over_rows(n, threads_, [&](int thread, std::size_t begin, std::size_t end) {
        terms[thread] = scores.move(begin, end, leaf.data(), step ? factor.data() : nullptr, along_);
    });
    Seen seen;
    for (const Terms& part : terms) seen.terms.merge(part);
    const float *g = scores.gradient(), *h = scores.curvature();
    const int32_t* copies = scores.copies().empty() ? nullptr : scores.copies().data();
    seen.taken = static_cast<int64_t>(n);
    if (sampled_) {
        taken_.clear();
        boosted::take_rows({g, h, copies, hash_, outlook.key, outlook.mu}, 0, n, taken_);
        sample_.gather(codes_, taken_.rows.data(), taken_.count, threads_);
        seen.taken = taken_.weight;
        g = taken_.gradient.data(), h = taken_.curvature.data();
    } else if (copies) {
        seen.taken = 0;
        for (std::size_t i = 0; i < n; ++i) seen.taken += copies[i];
    }
    seen.gradient = largest_size(g, searched().codes.rows());
    seen.curvature = largest_size(h, searched().codes.rows());
    return seen;
}

MeasureSums TreeRows::measure() const {
    std::vector<MeasureSums> parts(std::max(1, threads_));
    over_rows(scores.rows(), threads_,
              [&](int thread, std::size_t begin, std::size_t end) { scores.measure(begin, end, parts[thread]); });
    for (std::size_t t = 1; t < parts.size(); ++t) parts[0].merge(parts[t]);
    return parts[0];
}

int64_t TreeRows::sum_of_roots(float largest) const {
    boosted::Draw draw;
    draw.gradient = scores.gradient(), draw.curvature = scores.curvature();
    draw.copies = scores.copies().empty() ? nullptr : scores.copies().data();
    return boosted::sum_of_sizes(draw, 0, scores.rows(), largest);
}

SearchSizes TreeRows::sizes(float gradient_grid, float curvature_grid) const {
    const Searched rows = searched();
    const std::size_t n = rows.codes.rows();
    const float *g = rows.gradient, *h = rows.curvature;
    SearchSizes found;
    if (rows.copies.empty()) return {sum_of_sizes(g, n, gradient_grid), sum_of_sizes(h, n, curvature_grid)};
    for (std::size_t i = 0; i < n; ++i) {
        found.gradient += rows.times(i) * static_cast<int64_t>(std::fabs(g[i]) * gradient_grid);
        found.curvature += rows.times(i) * static_cast<int64_t>(h[i] * curvature_grid);
    }
    return found;
}

void TreeRows::pack(double gradient_grid, double curvature_grid) {
    const Searched rows = searched();
    gradient_grid_ = gradient_grid, curvature_grid_ = curvature_grid;
    packed_.resize(rows.codes.rows());
    const auto by_g = static_cast<float>(gradient_grid), by_h = static_cast<float>(curvature_grid);
    pack_rows(rows.gradient, rows.curvature, packed_.size(), by_g, by_h, packed_.data());
    for (std::size_t i = 0; i < packed_.size() && !rows.copies.empty(); ++i) packed_[i] *= rows.times(i);
}

Shape TreeRows::grow(const boosted::TreeOptions& options, const std::vector<uint8_t>& used) {
    boosted::SearchRows rows;
    rows.codes = &searched().codes, rows.packed = packed_.data();
    rows.gradient_grid = gradient_grid_, rows.curvature_grid = curvature_grid_;
    if (grower_)
        grower_->options() = options;
    else
        grower_ = std::make_unique<boosted::Grower>(columns_, options);
    boosted::Tree tree = grower_->grow(rows, used);
    return {std::move(tree.splits), tree.inside};
}

void TreeRows::sum(const std::vector<boosted::Split>& splits, uint8_t wanted, const std::vector<uint8_t>& used,
                   int64_t* cells) const {
    const boosted::Codes& codes = searched().codes;
    const std::vector<uint8_t> leaf = leaves_of({splits, -1}, codes);
    std::vector<uint32_t> list(codes.rows() + 8);
    const std::size_t count = boosted::find_bytes(leaf.data(), 0, codes.rows(), wanted, list.data());
    std::fill_n(cells, layout_.size() + 1, 0);
    for (std::size_t block = 0; block < codes.n_blocks(); ++block)
        boosted::sum_block(codes, block, {{list.data(), packed_.data(), count}}, columns_, used.data(), layout_, cells);
    for (std::size_t i = 0; i < count; ++i) cells[layout_.size()] += packed_[list[i]];
}

StepSums TreeRows::step_sums(const Shape& tree, double gradient_grid, double curvature_grid) const {
    const std::vector<uint8_t> leaf = leaves_of(tree, codes_);
    const std::size_t outputs = scores.outputs(along_.coordinate);
    std::vector<StepSums> parts(std::max(1, threads_), StepSums(tree.leaves(), outputs));
    over_rows(scores.rows(), threads_, [&](int thread, std::size_t begin, std::size_t end) {
        scores.add_sums(begin, end, leaf.data(), along_, gradient_grid, curvature_grid, parts[thread]);
    });
    for (std::size_t t = 1; t < parts.size(); ++t) parts[0].merge(parts[t]);
    return parts[0];
}

LineSums TreeRows::slopes(const Shape& tree, const double* step, double alpha) const {
    const std::vector<uint8_t> leaf = leaves_of(tree, codes_);
    std::vector<LineSums> parts(std::max(1, threads_));
    over_rows(scores.rows(), threads_, [&](int thread, std::size_t begin, std::size_t end) {
        scores.slopes(begin, end, leaf.data(), step, tree.leaves(), alpha, parts[thread]);
    });
    for (std::size_t t = 1; t < parts.size(); ++t)
        parts[0].first.merge(parts[t].first), parts[0].second.merge(parts[t].second);
    return parts[0];
}

}  // namespace permissible::mcboost
