// Rules over codes. A literal is a set of codes of one column; nearly always an interval on the circle 0..255 (so that
// "x <= t or missing" is one too), and then one subtraction and one comparison decide a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace permissible::boosting {

/// The training rows as codes: (n_blocks, n_rows, 8) bytes, column j in block j / 8, lane j % 8.
struct CodeBlocks {
    const uint8_t* data = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;

    const uint64_t* block(std::size_t index) const { return reinterpret_cast<const uint64_t*>(data) + index * n_rows; }
    std::size_t n_blocks() const { return (n_columns + 7) / 8; }
    int lanes(std::size_t index) const {
        const std::size_t left = n_columns - index * 8;
        return left < 8 ? static_cast<int>(left) : 8;
    }
};

struct LiteralMask {
    int column = 0;
    bool interval = true;
    uint8_t first = 0;  // the interval is first, first+1, ..., first+width on the circle
    uint8_t width = 0;
    std::array<uint8_t, 256> member{};

    static LiteralMask from_members(int column, const uint8_t* members);
};

using RuleMask = std::vector<LiteralMask>;

/// out[i] = 1 where row begin + i passes every literal, else 0; of the first `known` literals `out` holds the answer
/// already. Returns how many rows pass.
std::size_t mask_rows(const CodeBlocks& codes, const RuleMask& rule, std::size_t begin, std::size_t end, uint8_t* out,
                      std::size_t known = 0);

}  // namespace permissible::boosting
