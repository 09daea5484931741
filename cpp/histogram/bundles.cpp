// See bundles.hpp.
#include "histogram/bundles.hpp"

#include <algorithm>
#include <numeric>

namespace permissible::mcboost {

namespace {

constexpr int kMost = 512;  // joint codes of a lane: two columns of 21 values, five of two; more would leave the cache

constexpr std::size_t kRows = 1024;  // at a time, so that the data of all lanes stay in cache

}  // namespace

Bundles::Bundles(const Codes& codes) : columns_(codes.columns), lanes_{nullptr, codes.rows, {}, {}} {
    join(codes);
    if (!help()) return;
    arrange();
    encode(codes);
}

// First fit, the columns of most codes first.
void Bundles::join(const Codes& codes) {
    std::vector<int> order(codes.columns);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return codes.bins[a] > codes.bins[b]; });
    for (const int column : order) {
        const int radix = codes.bins[column] + 1;
        auto found = std::find_if(joints_.begin(), joints_.end(),
                                  [&](const Joint& joint) { return joint.size * radix <= kMost; });
        if (found == joints_.end()) found = joints_.insert(joints_.end(), Joint{});
        found->members.push_back({column, found->size, radix});
        found->size *= radix;
    }
}

// Lanes of two bytes go round the blocks, then each of one byte to the block of fewest lanes that has room.
void Bundles::arrange() {
    const auto wide = std::count_if(joints_.begin(), joints_.end(), [](const Joint& joint) { return joint.wide(); });
    const std::size_t blocks = (joints_.size() + wide + 7) / 8;
    std::vector<std::vector<Joint>> narrow(blocks), pairs(blocks);
    std::size_t next = 0;
    for (const Joint& joint : joints_)
        if (joint.wide()) pairs[next++ % blocks].push_back(joint);
    for (const Joint& joint : joints_) {
        if (joint.wide()) continue;
        std::size_t best = blocks;
        const auto lanes = [&](std::size_t b) { return narrow[b].size() + pairs[b].size(); };
        for (std::size_t b = 0; b < blocks; ++b)
            if (lanes(b) + pairs[b].size() < 8 && (best == blocks || lanes(b) < lanes(best))) best = b;
        narrow[best].push_back(joint);
    }
    joints_.clear();
    for (std::size_t b = 0; b < blocks; ++b) {
        lanes_.shapes.push_back({static_cast<int>(narrow[b].size()), static_cast<int>(pairs[b].size())});
        joints_.insert(joints_.end(), narrow[b].begin(), narrow[b].end());
        joints_.insert(joints_.end(), pairs[b].begin(), pairs[b].end());
    }
    for (const Joint& joint : joints_) lanes_.sizes.push_back(joint.cells());
}

void Bundles::encode(const Codes& codes) {
    bytes_.assign(lanes_.shapes.size() * codes.rows * 8, 0);
    lanes_.blocks = bytes_.data();
    for (std::size_t begin = 0; begin < codes.rows; begin += kRows) {
        const std::size_t count = std::min(kRows, codes.rows - begin);
        auto joint = joints_.begin();
        for (std::size_t block = 0; block < lanes_.shapes.size(); ++block) {
            uint8_t* to = &bytes_[(block * codes.rows + begin) * 8];
            for (int lane = 0; lane < lanes_.shapes[block].lanes(); ++lane, ++joint) {
                write_codes(*joint, codes, begin, count, to);
                to += joint->wide() ? 2 : 1;
            }
        }
    }
}

void Bundles::write_codes(const Joint& joint, const Codes& codes, std::size_t begin, std::size_t count, uint8_t* to) {
    if (!joint.several()) {
        const uint8_t* column = codes.column(joint.members[0].column) + 8 * begin;
        for (std::size_t i = 0; i < count; ++i) to[8 * i] = column[8 * i];
        return;
    }
    int joined[kRows] = {};
    for (const Member& member : joint.members) {
        const uint8_t* column = codes.column(member.column) + 8 * begin;
        const int stride = member.stride, last = member.radix - 1;
        for (std::size_t i = 0; i < count; ++i) {
            const int code = column[8 * i];
            joined[i] += (code == kMissingCode ? last : code) * stride;
        }
    }
    for (std::size_t i = 0; i < count; ++i) to[8 * i] = static_cast<uint8_t>(joined[i] & 255);
    if (joint.wide())
        for (std::size_t i = 0; i < count; ++i) to[8 * i + 1] = static_cast<uint8_t>(joined[i] >> 8);
}

std::vector<const int64_t*> Bundles::by_column(const std::vector<int64_t>& cells, int width,
                                               std::vector<int64_t>& own) const {
    std::vector<const int64_t*> sums(columns_);
    std::size_t joined = 0;
    for (const Joint& joint : joints_) joined += joint.several() ? joint.members.size() : 0;
    own.assign(joined * 256 * width, 0);
    int64_t* marginal = own.data();
    const int64_t* of_joint = cells.data();
    for (const Joint& joint : joints_) {
        for (const Member& member : joint.members) {
            sums[member.column] = joint.several() ? marginal : of_joint;
            if (!joint.several()) continue;
            const int64_t* from = of_joint;
            for (int above = 0; above < joint.size; above += member.stride * member.radix)
                for (int digit = 0; digit < member.radix; ++digit) {
                    int64_t* cell = marginal + (digit == member.radix - 1 ? kMissingCode : digit) * width;
                    for (int below = 0; below < member.stride; ++below)
                        for (int t = 0; t < width; ++t) cell[t] += *from++;
                }
            marginal += 256 * width;
        }
        of_joint += (joint.wide() ? 512 : 256) * width;
    }
    return sums;
}

}  // namespace permissible::mcboost
