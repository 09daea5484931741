// See block_mask.hpp.
#include "histogram/block_mask.hpp"

#include <cstring>

#include "common/avx512.hpp"
#include "common/parallel.hpp"

namespace permissible {

namespace {

PERMISSIBLE_CLONES
void lane_mask(const uint64_t* rows, std::size_t n, int shift, uint8_t first, uint8_t width, bool fresh, uint8_t* out) {
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

void interval_mask_plain(const uint64_t* rows, std::size_t n, const BlockTest& test, bool fresh, uint8_t* out) {
    for (int lane = 0; lane < 8; ++lane) {
        if (!(test.tested >> lane & 1)) continue;
        lane_mask(rows, n, 8 * lane, test.first[lane], test.width[lane], fresh, out);
        fresh = false;
    }
}

#ifdef PERMISSIBLE_AVX512
/// Eight rows at a time, all of their codes at once.
PERMISSIBLE_AVX512 void interval_mask_wide(const uint64_t* rows, std::size_t n, const BlockTest& test, bool fresh,
                                           uint8_t* out) {
    int64_t first_word, width_word;
    std::memcpy(&first_word, test.first.data(), 8);
    std::memcpy(&width_word, test.width.data(), 8);
    const __m512i first = _mm512_set1_epi64(first_word), width = _mm512_set1_epi64(width_word);
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m512i above = _mm512_sub_epi8(_mm512_loadu_si512(rows + i), first);
        const __mmask8 inside = _mm512_cmpeq_epi64_mask(_mm512_min_epu8(above, width), above);
        __m128i flags = _mm_maskz_set1_epi8(inside, 1);
        if (!fresh) flags = _mm_and_si128(flags, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(out + i)));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), flags);
    }
    if (i < n) interval_mask_plain(rows + i, n - i, test, fresh, out + i);
}
#else
constexpr auto interval_mask_wide = interval_mask_plain;
#endif

}  // namespace

void interval_mask(const uint64_t* rows, std::size_t n, const BlockTest& test, bool fresh, uint8_t* out) {
    static const auto mask = has_avx512() ? interval_mask_wide : interval_mask_plain;
    mask(rows, n, test, fresh, out);
}

void table_mask(const uint64_t* rows, std::size_t n, int shift, const uint8_t* member, bool fresh, uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const uint8_t inside = member[static_cast<uint8_t>(rows[i] >> shift)];
        out[i] = fresh ? inside : static_cast<uint8_t>(out[i] & inside);
    }
}

}  // namespace permissible
