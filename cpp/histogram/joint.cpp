// See joint.hpp.
#include "histogram/joint.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace permissible {

JointCodes::JointCodes(const Codes& codes, const std::vector<int>& bins)
    : columns_(static_cast<std::size_t>(codes.columns)), bins_(bins), place_(columns_) {
    std::vector<std::vector<uint8_t>> joint;  // by lane, of each row
    for (int column = 0; column < codes.columns; ++column) {
        if (bins[static_cast<std::size_t>(column)] > kJoinedBins) continue;
        std::size_t found = 0;
        while (found < lanes_.size() && !join(lanes_[found], joint[found], codes, column)) ++found;
        if (found < lanes_.size()) continue;
        lanes_.emplace_back();
        joint.emplace_back(codes.rows, uint8_t{0});
        lanes_.back().size = 1;
        join(lanes_.back(), joint.back(), codes, column);
    }
    if (std::none_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.columns.size() > 1; })) {
        lanes_.assign(columns_, {});  // nothing shares a code
        return;
    }
    for (int column = 0; column < codes.columns; ++column) {
        if (bins[static_cast<std::size_t>(column)] <= kJoinedBins) continue;
        lanes_.emplace_back();
        lanes_.back().columns = {column};
    }
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
        for (std::size_t member = 0; member < lanes_[lane].columns.size(); ++member)
            place_[static_cast<std::size_t>(lanes_[lane].columns[member])] = {static_cast<int>(lane),
                                                                              static_cast<int>(member)};
    for (Lane& lane : lanes_) {
        for (const auto& code : lane.code) {
            std::array<int, 256> count{};
            for (const uint8_t own : code) ++count[own];
            Rest rest;
            rest.code = static_cast<uint8_t>(std::max_element(count.begin(), count.end()) - count.begin());
            for (std::size_t k = 0; k < code.size(); ++k)
                if (code[k] != rest.code) rest.terms.emplace_back(static_cast<uint8_t>(k), code[k]);
            lane.rest.push_back(std::move(rest));
        }
    }
    write(codes, joint);
}

/// Adds a column to a lane if the combinations stay within a byte.
bool JointCodes::join(Lane& lane, std::vector<uint8_t>& joint, const Codes& codes, int column) const {
    constexpr int none = -1;
    std::vector<int> known(256 * 256, none);  // the new code of (joint code, code)
    const uint8_t* own = codes.column(column);
    int size = 0;
    std::array<uint8_t, 256> before{}, last{};
    for (std::size_t i = 0; i < codes.rows; ++i) {
        int& place = known[joint[i] * 256 + own[8 * i]];
        if (place != none) continue;
        if (size == 256) return false;
        before[size] = joint[i], last[size] = own[8 * i];
        place = size++;
    }
    for (std::size_t i = 0; i < codes.rows; ++i) joint[i] = static_cast<uint8_t>(known[joint[i] * 256 + own[8 * i]]);
    for (auto& code : lane.code) {
        const std::vector<uint8_t> old = code;
        code.resize(size);
        for (int k = 0; k < size; ++k) code[k] = old[before[k]];
    }
    lane.columns.push_back(column);
    lane.code.emplace_back(last.begin(), last.begin() + size);
    lane.size = size;
    return true;
}

void JointCodes::write(const Codes& codes, const std::vector<std::vector<uint8_t>>& joint) {
    joint_.rows = codes.rows;
    joint_.columns = static_cast<int>(lanes_.size());
    bytes_.resize(joint_.n_blocks() * codes.rows * 8);
    joint_.blocks = bytes_.data();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        uint8_t* to = bytes_.data() + lane / 8 * codes.rows * 8 + lane % 8;
        const bool alone = lane >= joint.size();
        const uint8_t* from = alone ? codes.column(lanes_[lane].columns[0]) : joint[lane].data();
        const std::size_t step = alone ? 8 : 1;
        for (std::size_t i = 0; i < codes.rows; ++i) to[8 * i] = from[step * i];
    }
}

void JointCodes::members(int column, const uint8_t* own, uint8_t* joint) const {
    const Place place = place_[static_cast<std::size_t>(column)];
    const Lane& lane = lanes_[static_cast<std::size_t>(place.lane)];
    if (lane.code.empty()) {
        std::copy_n(own, 256, joint);
        return;
    }
    std::fill_n(joint, 256, uint8_t{0});
    for (int k = 0; k < lane.size; ++k) joint[k] = own[lane.code[static_cast<std::size_t>(place.member)][k]];
}

void JointCodes::spread(const int64_t* joint, int n_sums, int64_t* sums) const {
    for (const Lane& lane : lanes_) {
        int64_t total[2] = {0, 0};
        for (int s = 0; s < n_sums; ++s)
            for (int k = 0; k < lane.size; ++k) total[s] += joint[256 * s + k];
        for (std::size_t member = 0; member < lane.columns.size(); ++member) {
            int64_t* to = sums + static_cast<std::size_t>(lane.columns[member]) * n_sums * 256;
            if (lane.code.empty()) {
                std::copy_n(joint, n_sums * 256, to);
                continue;
            }
            const int bins = bins_[static_cast<std::size_t>(lane.columns[member])];
            const Rest& rest = lane.rest[member];
            for (int s = 0; s < n_sums; ++s) {
                int64_t *own = to + 256 * s, others = 0;
                std::fill_n(own, bins, int64_t{0});
                own[kOtherCode] = own[kMissingCode] = 0;
                for (const auto& [from, code] : rest.terms) {
                    own[code] += joint[256 * s + from];
                    others += joint[256 * s + from];
                }
                own[rest.code] = total[s] - others;
            }
        }
        joint += n_sums * 256;
    }
}

}  // namespace permissible
