// See tree.hpp.
#include "trees/boosted/tree.hpp"

#include <cstring>

#ifdef __SSSE3__
#include <tmmintrin.h>
#endif

namespace permissible::boosted {

namespace {

/// `shift` 1 makes the missing code 0, the smallest, instead of 255, the largest.
PERMISSIBLE_CLONES
void divide_by_cut(const uint8_t* code, uint8_t* leaf, std::size_t n, uint8_t parent, uint8_t made, uint8_t cut,
                   uint8_t shift) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto shifted = static_cast<uint8_t>(code[i] + shift);
        const uint8_t goes = (leaf[i] == parent) & (shifted > cut);
        leaf[i] = goes ? made : leaf[i];
    }
}

void divide_by_set(const Split& split, const uint8_t* code, uint8_t* leaf, std::size_t n, uint8_t made) {
    std::size_t i = 0;
#ifdef __SSSE3__
    // Byte code >> 3 of the set's 32, then its bit code & 7: two table look-ups of sixteen entries.
    uint8_t bytes[32];
    std::memcpy(bytes, split.set.data(), 32);
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16));
    const __m128i bit = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    const __m128i parent = _mm_set1_epi8(static_cast<char>(split.parent)), to = _mm_set1_epi8(static_cast<char>(made));
    for (; i + 16 <= n; i += 16) {
        const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(code + i));
        const __m128i at = _mm_and_si128(_mm_srli_epi16(c, 3), _mm_set1_epi8(31));
        const __m128i upper = _mm_cmpgt_epi8(at, _mm_set1_epi8(15)), place = _mm_and_si128(at, _mm_set1_epi8(15));
        const __m128i byte = _mm_or_si128(_mm_andnot_si128(upper, _mm_shuffle_epi8(low, place)),
                                          _mm_and_si128(upper, _mm_shuffle_epi8(high, place)));
        const __m128i mine = _mm_shuffle_epi8(bit, _mm_and_si128(c, _mm_set1_epi8(7)));
        const __m128i outside = _mm_cmpeq_epi8(_mm_and_si128(byte, mine), _mm_setzero_si128());
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(leaf + i));
        const __m128i goes = _mm_and_si128(outside, _mm_cmpeq_epi8(here, parent));
        const __m128i next = _mm_or_si128(_mm_andnot_si128(goes, here), _mm_and_si128(goes, to));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(leaf + i), next);
    }
#endif
    for (; i < n; ++i)
        if (leaf[i] == split.parent && !split.stays(code[i])) leaf[i] = made;
}

}  // namespace

void divide(const Split& split, uint8_t made, const uint8_t* code, uint8_t* leaf, std::size_t begin, std::size_t end) {
    const std::size_t n = end - begin;
    if (split.test == Test::in_set) return divide_by_set(split, code + begin, leaf + begin, n, made);
    const uint8_t shift = split.test == Test::missing_left;
    divide_by_cut(code + begin, leaf + begin, n, split.parent, made, static_cast<uint8_t>(split.cut + shift), shift);
}

void find_leaves(const Split* splits, std::size_t count, const Codes& codes, uint8_t* leaf, std::size_t begin,
                 std::size_t end) {
    for (std::size_t first = begin; first < end; first += kChunk) {
        const std::size_t last = std::min(end, first + kChunk);
        std::memset(leaf + first, 0, last - first);
        for (std::size_t s = 0; s < count; ++s)
            divide(splits[s], static_cast<uint8_t>(s + 1), codes.column(splits[s].column), leaf, first, last);
    }
}

}  // namespace permissible::boosted
