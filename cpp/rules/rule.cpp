// Which rows a rule covers: byte tests on one lane of the 64-bit rows.
#include "rules/rule.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "histogram/block_mask.hpp"

namespace permissible::rules {

LiteralMask LiteralMask::from_members(int column, const uint8_t* members) {
    LiteralMask literal;
    literal.column = column;
    std::copy(members, members + 256, literal.member.begin());
    int starts = 0, count = 0;
    for (int code = 0; code < 256; ++code) {
        count += members[code] != 0;
        if (members[code] && !members[(code + 255) & 255]) {
            literal.first = static_cast<uint8_t>(code);
            ++starts;
        }
    }
    // All 256 codes: no start, first = 0 and width = 255 cover everything. No code at all is not an interval.
    literal.interval = count > 0 && starts <= 1;
    literal.width = static_cast<uint8_t>(count - 1);
    return literal;
}

namespace {

/// How many bytes are 1; the others are 0.
std::size_t ones(const uint8_t* bytes, std::size_t n) {
    std::size_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t eight;
        std::memcpy(&eight, bytes + i, 8);
        count += static_cast<std::size_t>(__builtin_popcountll(eight));
    }
    for (; i < n; ++i) count += bytes[i];
    return count;
}

}  // namespace

std::size_t mask_rows(const Codes& codes, const RuleMask& rule, std::size_t begin, std::size_t end, uint8_t* out,
                      std::size_t known) {
    const std::size_t n = end - begin;
    if (rule.empty()) std::fill(out, out + n, uint8_t{1});
    bool fresh = known == 0;
    const auto words = [&](int column) {
        return reinterpret_cast<const uint64_t*>(codes.block(static_cast<std::size_t>(column) / 8)) + begin;
    };
    const auto add = [](BlockTest& test, const LiteralMask& literal) {
        return test.add(literal.column % 8, literal.first, literal.width);
    };
    std::array<uint8_t, 64> done{};  // literals of a column block are tested together
    for (std::size_t k = known; k < rule.size(); ++k) {
        if (k < done.size() && done[k]) continue;
        if (!rule[k].interval) {
            table_mask(words(rule[k].column), n, 8 * (rule[k].column % 8), rule[k].member.data(), fresh, out);
        } else {
            BlockTest test;
            add(test, rule[k]);
            for (std::size_t other = k + 1; other < std::min(rule.size(), done.size()); ++other) {
                const bool near = rule[other].interval && rule[other].column / 8 == rule[k].column / 8;
                if (!done[other] && near) done[other] = add(test, rule[other]);
            }
            interval_mask(words(rule[k].column), n, test, fresh, out);
        }
        fresh = false;
    }
    return ones(out, n);
}

}  // namespace permissible::rules
