// See bundles.hpp.
#include "mcboost/bundles.hpp"

#include <algorithm>
#include <numeric>

#include "mcboost/splits.hpp"

namespace permissible::mcboost {

namespace {

constexpr int kBits = 9;           // of a lane: two columns of 22 codes, five of three
constexpr int kMost = 64 / kBits;  // lanes of a word

}  // namespace

Bundles::Bundles(const Codes& codes) : columns_(codes.columns), rows_(codes.rows) {
    plan(codes);
    help_ = static_cast<int>(lanes_.size()) < columns_;
    if (help_) encode(codes);
}

// First fit, the columns of most codes first.
void Bundles::plan(const Codes& codes) {
    std::vector<int> order(codes.columns);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return codes.bins[a] > codes.bins[b]; });
    for (const int column : order) {
        const int radix = codes.bins[column] + 1;
        auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                 [&](const Lane& found) { return found.size * radix <= 1 << kBits; });
        if (lane == lanes_.end()) lane = lanes_.insert(lanes_.end(), Lane{});
        lane->members.push_back({column, lane->size, radix});
        lane->size *= radix;
    }
    for (const Lane& lane : lanes_) sizes_.push_back(lane.joint() ? lane.size : 256);
    const int count = static_cast<int>(lanes_.size()), blocks = (count + kMost - 1) / kMost;
    per_block_ = (count + blocks - 1) / blocks;  // blocks of like numbers of lanes
}

void Bundles::encode(const Codes& codes) {
    words_.assign(static_cast<std::size_t>(lanes().blocks_count()) * rows_, 0);
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        uint64_t* words = &words_[l / per_block_ * rows_];
        const int shift = kBits * static_cast<int>(l % per_block_);
        for (const Member& member : lanes_[l].members) {
            const uint8_t* column = codes.column(member.column);
            const uint64_t last = lanes_[l].joint() ? member.radix - 1 : kMissingCode;
            for (std::size_t i = 0; i < rows_; ++i) {
                const uint64_t code = column[8 * i], digit = code == kMissingCode ? last : code;
                words[i] += (digit * member.stride) << shift;
            }
        }
    }
}

Lanes Bundles::lanes() const {
    return {reinterpret_cast<const uint8_t*>(words_.data()),
            rows_,
            static_cast<int>(lanes_.size()),
            per_block_,
            kBits,
            sizes_.data()};
}

std::vector<const int64_t*> Bundles::by_column(const std::vector<int64_t>& cells, int width,
                                               std::vector<int64_t>& own) const {
    std::vector<const int64_t*> sums(columns_);
    std::size_t joined = 0;
    for (const Lane& lane : lanes_) joined += lane.joint() ? lane.members.size() : 0;
    own.assign(joined * 256 * width, 0);
    int64_t* marginal = own.data();
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        const int64_t* joint = &cells[(l << kBits) * width];
        for (const Member& member : lanes_[l].members) {
            sums[member.column] = lanes_[l].joint() ? marginal : joint;
            if (!lanes_[l].joint()) continue;
            const int64_t* from = joint;
            for (int above = 0; above < lanes_[l].size; above += member.stride * member.radix)
                for (int digit = 0; digit < member.radix; ++digit) {
                    int64_t* cell = marginal + (digit == member.radix - 1 ? kMissingCode : digit) * width;
                    for (int below = 0; below < member.stride; ++below)
                        for (int t = 0; t < width; ++t) cell[t] += *from++;
                }
            marginal += 256 * width;
        }
    }
    return sums;
}

}  // namespace permissible::mcboost
