// See part.hpp.
#include "trees/boosted/part.hpp"

#include <algorithm>
#include <numeric>

namespace permissible::boosted {

namespace {

constexpr std::size_t kSpan = 8 * kChunk;  // rows whose gradients stay in the second cache until they are drawn

}  // namespace

Part::Part(FitRows& rows, FitRows* held_out, int threads) : rows_(rows), held_(held_out), threads_(threads) {
    rows_.leaf.assign(rows_.codes->rows(), 0);
    if (held_) held_->leaf.assign(held_->codes->rows(), 0);
    taken_.resize(std::max(1, threads_));
    draw_.gradient = rows_.scores->gradient(), draw_.curvature = rows_.scores->curvature();
    draw_.copies = rows_.labels.copies, draw_.hash = rows_.hash;
}

void Part::find_leaves_of(FitRows& rows, const Tree& tree) const {
    over_rows(rows.codes->rows(), threads_, [&](int, std::size_t begin, std::size_t end) {
        find_leaves(tree.splits.data(), tree.splits.size(), *rows.codes, rows.leaf.data(), begin, end);
    });
}

LeafSums Part::sums(const LeafSums& empty, std::size_t leaves, const double* step, const Tree* tree) {
    std::vector<LeafSums> parts(std::max(1, threads_), empty);
    over_rows(rows_.codes->rows(), threads_, [&](int thread, std::size_t begin, std::size_t end) {
        if (tree) find_leaves(tree->splits.data(), leaves - 1, *rows_.codes, rows_.leaf.data(), begin, end);
        rows_.scores->add_sums(begin, end, rows_.leaf.data(), step, leaves, parts[thread]);
    });
    if (tree && held_) find_leaves_of(*held_, *tree);
    for (std::size_t t = 1; t < parts.size(); ++t) parts[0].merge(parts[t]);
    return parts[0];
}

Moved Part::move(const MoveRequest& request) {
    std::vector<Extremes> extremes(taken_.size());
    for (Taken& taken : taken_) taken.clear();
    sampled_ = request.sampled;
    draw_.key = request.key, draw_.mu = request.mu;
    over_rows(rows_.codes->rows(), threads_, [&](int thread, std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; at += kSpan) {
            const std::size_t last = std::min(end, at + kSpan);
            extremes[thread].merge(
                rows_.scores->move(at, last, rows_.leaf.data(), request.step, request.leaves, request.signs.data()));
            if (sampled_) take_rows(draw_, at, last, taken_[thread]);
        }
    });
    Moved moved;
    for (const Extremes& part : extremes) moved.extremes.merge(part);
    for (const Taken& taken : taken_) moved.taken += taken.weight;
    if (request.track_loss) moved.loss = loss_of(rows_);
    if (!held_) return moved;
    over_rows(held_->codes->rows(), threads_, [&](int, std::size_t begin, std::size_t end) {
        held_->scores->move(begin, end, held_->leaf.data(), request.step, request.leaves, request.signs.data());
    });
    moved.held_out = loss_of(*held_);
    return moved;
}

__int128 Part::loss_of(const FitRows& rows) const {
    std::vector<__int128> parts(std::max(1, threads_), 0);
    over_rows(rows.codes->rows(), threads_,
              [&](int thread, std::size_t begin, std::size_t end) { parts[thread] = rows.scores->loss(begin, end); });
    return std::accumulate(parts.begin(), parts.end(), __int128{0});
}

int64_t Part::sizes(float largest) { return sum_of_sizes(draw_, 0, rows_.codes->rows(), largest); }

const Taken& Part::taken() {
    for (std::size_t t = 1; t < taken_.size(); ++t) {
        taken_[0].append(taken_[t]);
        taken_[t].clear();
    }
    return taken_[0];
}

SearchRows Part::searched() {
    SearchRows found;
    if (!sampled_) {
        packed_.pack(draw_.gradient, draw_.curvature, nullptr, draw_.copies, rows_.codes->rows());
        found.codes = rows_.codes;
        if (!found.codes->by_column()) {  // a search needs both
            const auto* blocks = reinterpret_cast<const uint8_t*>(rows_.codes->block(0));
            if (sample_.rows() == 0) sample_ = Codes(blocks, rows_.codes->rows(), rows_.codes->columns(), threads_);
            found.codes = &sample_;
        }
    } else {
        const Taken& all = taken();
        sample_.gather(*rows_.codes, all.rows.data(), all.count, threads_);
        packed_.pack(all.gradient.data(), all.curvature.data(), all.rows.data(), draw_.copies, all.count);
        found.codes = &sample_;
    }
    found.packed = packed_.data();
    found.gradient_grid = packed_.gradient_grid(), found.curvature_grid = packed_.curvature_grid();
    found.weight = packed_.weight();
    return found;
}

}  // namespace permissible::boosted
