// See packed_classes.hpp.
#include "histogram/packed_classes.hpp"

#include <array>
#include <utility>

namespace permissible {

namespace {

/// One store per lane and row, one per cycle, is the limit of the machine. Each code is loaded by itself: shifting it
/// out of a word would take execution ports that a second thread of the core could use.
template <int Lanes>
void add_lanes(const uint8_t* block, const int64_t* packed, std::size_t rows, int64_t* __restrict cells) {
    for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
        for (int lane = 0; lane < Lanes; ++lane) cells[lane * 256 + block[8 * i + lane]] += packed[i];
    }
}

using Adder = void (*)(const uint8_t*, const int64_t*, std::size_t, int64_t*);

template <int... Lanes>
constexpr std::array<Adder, sizeof...(Lanes)> adders(std::integer_sequence<int, Lanes...>) {
    return {add_lanes<Lanes>...};
}

}  // namespace

void add_words(int lanes, const uint8_t* block, const int64_t* packed, std::size_t rows, int64_t* cells) {
    static constexpr auto kAdders = adders(std::make_integer_sequence<int, 9>());
    kAdders[lanes](block, packed, rows, cells);
}

}  // namespace permissible
