// Which rows of a block of eight columns pass tests of their codes: intervals of several columns in one visit, or a set
// of codes of one column. A code is one byte of the 64 bits of its row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace permissible {

/// Intervals of the columns of one block, of each at most one: a byte a column; 0 and 255 test nothing.
struct BlockTest {
    std::array<uint8_t, 8> first{}, width{};
    uint8_t tested = 0;  // a bit a column

    BlockTest() { width.fill(255); }
    /// False where the column has an interval already.
    bool add(int lane, uint8_t from, uint8_t more) {
        if (tested >> lane & 1) return false;
        first[lane] = from, width[lane] = more;
        tested |= static_cast<uint8_t>(1 << lane);
        return true;
    }
};

/// out[i] = whether row i passes, and if not `fresh` what it was before as well.
void interval_mask(const uint64_t* rows, std::size_t n, const BlockTest& test, bool fresh, uint8_t* out);
void table_mask(const uint64_t* rows, std::size_t n, int shift, const uint8_t* member, bool fresh, uint8_t* out);

}  // namespace permissible
