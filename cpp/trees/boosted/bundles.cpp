// See bundles.hpp.
#include "trees/boosted/bundles.hpp"

#include <algorithm>
#include <cstring>

namespace permissible::boosted {

namespace {

using Bits = std::vector<uint64_t>;

/// A bit per row of all codes: whether it is 1.
Bits ones_of(const std::vector<const Codes*>& codes, std::size_t column) {
    Bits bits;
    for (const Codes* part : codes) {
        ChunkView view(*part);
        for (std::size_t at = 0; at < part->rows(); at += kChunk) {
            const std::size_t n = std::min(kChunk, part->rows() - at), first = bits.size();
            view.move(at, at + n);
            const uint8_t* code = view.column(column);
            bits.resize(first + (n + 63) / 64, 0);
            std::size_t i = 0;
            for (; i + 8 <= n; i += 8) {  // eight codes, 0 or 1, make eight bits by one product
                uint64_t bytes;
                std::memcpy(&bytes, code + i, 8);
                bits[first + i / 64] |= ((bytes * 0x0102040810204080u) >> 56) << (i % 64);
            }
            for (; i < n; ++i) bits[first + i / 64] |= static_cast<uint64_t>(code[i] & 1) << (i % 64);
        }
    }
    return bits;
}

bool disjoint(const Bits& a, const Bits& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] & b[k]) return false;
    return true;
}

}  // namespace

std::vector<std::vector<int>> find_bundles(const std::vector<const Codes*>& codes, const std::vector<Column>& columns) {
    struct Bundle {
        std::vector<int> members;
        Bits held;
    };
    std::vector<Bundle> bundles;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const Column& column = columns[j];
        if (column.categorical || column.missing || column.bins != 2 || column.monotone != 0) continue;
        const Bits ones = ones_of(codes, j);
        auto found = std::find_if(bundles.begin(), bundles.end(), [&](const Bundle& bundle) {
            return bundle.members.size() < kMostMembers && disjoint(bundle.held, ones);
        });
        if (found == bundles.end()) found = bundles.insert(bundles.end(), Bundle{{}, Bits(ones.size(), 0)});
        found->members.push_back(static_cast<int>(j));
        for (std::size_t k = 0; k < ones.size(); ++k) found->held[k] |= ones[k];
    }
    std::vector<std::vector<int>> groups;
    for (Bundle& bundle : bundles)
        if (bundle.members.size() >= kFewestMembers) groups.push_back(std::move(bundle.members));
    return groups;
}

std::vector<Column> bundled(const std::vector<Column>& columns, const std::vector<std::vector<int>>& groups) {
    std::vector<uint8_t> inside(columns.size(), 0);
    for (const auto& group : groups)
        for (const int j : group) inside[j] = 1;
    std::vector<Column> found;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (inside[j]) continue;
        found.push_back(columns[j]);
        found.back().origin = static_cast<int>(j);
    }
    for (const auto& group : groups) {
        Column column;
        column.bins = static_cast<int>(group.size()) + 1, column.categorical = true, column.members = group;
        found.push_back(column);
    }
    return found;
}

}  // namespace permissible::boosted
