// Rules over codes. A literal is a set of codes of one column; nearly always an interval on the circle 0..255 (so that
// "x <= t or missing" is one too), and then one subtraction and one comparison decide a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/codes.hpp"

namespace permissible::rules {

struct LiteralMask {
    int column = 0;
    bool interval = true;
    uint8_t first = 0;  // the interval is first, first+1, ..., first+width on the circle
    uint8_t width = 0;
    std::array<uint8_t, 256> member{};

    static LiteralMask from_members(int column, const uint8_t* members);
};

using RuleMask = std::vector<LiteralMask>;

/// out[i] = 1 where row begin + i passes every literal, else 0; `out` already holds the result of the first `known`
/// literals. Returns how many rows pass.
std::size_t mask_rows(const Codes& codes, const RuleMask& rule, std::size_t begin, std::size_t end, uint8_t* out,
                      std::size_t known = 0);

}  // namespace permissible::rules
