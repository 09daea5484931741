// Which rows a rule covers: byte tests on one lane of the 64-bit rows.
#include "rules/rule.hpp"

#include <algorithm>
#include <cstring>

#include "common/parallel.hpp"

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

PERMISSIBLE_CLONES
void interval_mask(const uint64_t* rows, std::size_t n, int shift, uint8_t first, uint8_t width, bool fresh,
                   uint8_t* out) {
    if (fresh) {
        for (std::size_t i = 0; i < n; ++i) {
            const uint8_t code = static_cast<uint8_t>(rows[i] >> shift);
            out[i] = static_cast<uint8_t>(code - first) <= width;
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            const uint8_t code = static_cast<uint8_t>(rows[i] >> shift);
            out[i] &= static_cast<uint8_t>(code - first) <= width;
        }
    }
}

void table_mask(const uint64_t* rows, std::size_t n, int shift, const uint8_t* member, bool fresh, uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const uint8_t inside = member[static_cast<uint8_t>(rows[i] >> shift)];
        out[i] = fresh ? inside : static_cast<uint8_t>(out[i] & inside);
    }
}

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
    for (std::size_t k = known; k < rule.size(); ++k) {
        const LiteralMask& literal = rule[k];
        const auto* rows =
            reinterpret_cast<const uint64_t*>(codes.block(static_cast<std::size_t>(literal.column) / 8)) + begin;
        const int shift = 8 * (literal.column % 8);
        if (literal.interval) {
            interval_mask(rows, n, shift, literal.first, literal.width, fresh, out);
        } else {
            table_mask(rows, n, shift, literal.member.data(), fresh, out);
        }
        fresh = false;
    }
    return ones(out, n);
}

}  // namespace permissible::rules
