// See histogram.hpp.
#include "trees/boosted/growth/histogram.hpp"

#include <cstring>

namespace permissible::boosted {

namespace {

/// The used lanes of a block: `shift` brings the code of each to the low byte.
struct UsedLanes {
    int count = 0;
    int lane[8] = {}, shift[8] = {};
    bool leading = true;  // lanes 0 to count - 1: shifts are constants
};

template <int Lanes, bool Leading, bool All>
void add(const uint64_t* codes, const RowList& list, const int* shifts, int64_t* cells) {
    int shift[Lanes];
    for (int k = 0; k < Lanes; ++k) shift[k] = Leading ? 8 * k : shifts[k];
    for (std::size_t i = 0; i < list.count; ++i) {
        const std::size_t row = All ? i : list.rows[i];
        const uint64_t code = codes[row];
        const int64_t value = list.packed[row];
        for (int k = 0; k < Lanes; ++k) cells[256 * k + ((code >> (Leading ? 8 * k : shift[k])) & 255)] += value;
    }
}

using Add = void (*)(const uint64_t*, const RowList&, const int*, int64_t*);

template <int Lanes>
Add adder(bool leading, bool all) {
    if (leading) return all ? add<Lanes, true, true> : add<Lanes, true, false>;
    return all ? add<Lanes, false, true> : add<Lanes, false, false>;
}

Add adder(int lanes, bool leading, bool all) {
    constexpr Add (*kByLanes[])(bool, bool) = {adder<1>, adder<2>, adder<3>, adder<4>,
                                               adder<5>, adder<6>, adder<7>, adder<8>};
    return kByLanes[lanes - 1](leading, all);
}

/// Writes the cells of one column from the 256 sums of its codes, and clears those.
void write_column(const Column& column, int64_t* from, int width, int64_t* to) {
    if (column.categorical) {
        std::memcpy(to, from, sizeof(int64_t) * column.bins);
        to[column.bins] = from[kOther] * (column.bins <= kOther);
        to[column.bins + 1] = from[kMissing];
        std::fill(to + column.bins + 2, to + width, int64_t{0});
    } else {
        int64_t sum = 0;
        for (int code = 0; code < column.bins; ++code) to[code] = sum += from[code];
        std::fill(to + column.bins, to + width, sum);
    }
    std::memset(from, 0, sizeof(int64_t) * column.bins);
    from[kOther] = from[kMissing] = 0;
}

}  // namespace

CellLayout::CellLayout(const std::vector<Column>& columns) {
    for (const Column& column : columns) {
        begin_.push_back(size_);
        size_ += (column.bins + (column.categorical ? 2 : 0) + 7) / 8 * 8;
    }
    begin_.push_back(size_);
}

void sum_block(const Codes& codes, std::size_t block, const std::vector<RowList>& lists,
               const std::vector<Column>& columns, const uint8_t* used, const CellLayout& layout, int64_t* cells) {
    UsedLanes lanes;
    for (int lane = 0; lane < codes.lanes(block); ++lane) {
        if (!used[8 * block + lane]) continue;
        lanes.leading = lanes.leading && lane == lanes.count;
        lanes.lane[lanes.count] = lane;
        lanes.shift[lanes.count++] = 8 * lane;
    }
    if (lanes.count == 0) return;
    alignas(64) static thread_local int64_t sums[8 * 256] = {};  // all zero between calls
    for (const RowList& list : lists)
        adder(lanes.count, lanes.leading, list.rows == nullptr)(codes.block(block), list, lanes.shift, sums);
    for (int k = 0; k < lanes.count; ++k) {
        const std::size_t j = 8 * block + lanes.lane[k];
        write_column(columns[j], sums + 256 * k, layout.width(j), cells + layout.begin(j));
    }
}

PERMISSIBLE_WIDE_CLONES
void subtract(int64_t* larger, const int64_t* smaller, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) larger[i] -= smaller[i];
}

}  // namespace permissible::boosted
