// See tree.hpp.
#include "trees/boosted/tree.hpp"

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace permissible::boosted {

namespace {

/// `shift` 1 makes the missing code 0, the smallest, instead of 255, the largest.
PERMISSIBLE_WIDE_CLONES
void divide_by_cut(const uint8_t* code, uint8_t* leaf, std::size_t n, uint8_t parent, uint8_t made, uint8_t cut,
                   uint8_t shift) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto shifted = static_cast<uint8_t>(code[i] + shift);
        const uint8_t goes = (leaf[i] == parent) & (shifted > cut);
        leaf[i] = goes ? made : leaf[i];
    }
}

void divide_by_set_plain(const Split& split, const uint8_t* code, uint8_t* leaf, std::size_t n, uint8_t made) {
    for (std::size_t i = 0; i < n; ++i)
        if (leaf[i] == split.parent && !split.stays(code[i])) leaf[i] = made;
}

#if defined(__x86_64__) && defined(__GNUC__) && (defined(__AVX2__) || !defined(PERMISSIBLE_ONE_VERSION))
/// Byte code >> 3 of the set's 32, then its bit code & 7: three look-ups in tables of sixteen bytes.
__attribute__((target("avx2"))) void divide_by_set_avx2(const Split& split, const uint8_t* code, uint8_t* leaf,
                                                        std::size_t n, uint8_t made) {
    const auto* bytes = reinterpret_cast<const __m128i*>(split.set.data());
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes + 1));
    const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i parent = _mm256_set1_epi8(static_cast<char>(split.parent));
    const __m256i to = _mm256_set1_epi8(static_cast<char>(made));
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(code + i));
        const __m256i at = _mm256_and_si256(_mm256_srli_epi16(c, 3), _mm256_set1_epi8(31));
        const __m256i upper = _mm256_cmpgt_epi8(at, _mm256_set1_epi8(15));
        const __m256i place = _mm256_and_si256(at, _mm256_set1_epi8(15));
        const __m256i byte =
            _mm256_blendv_epi8(_mm256_shuffle_epi8(low, place), _mm256_shuffle_epi8(high, place), upper);
        const __m256i mine = _mm256_shuffle_epi8(bit, _mm256_and_si256(c, _mm256_set1_epi8(7)));
        const __m256i outside = _mm256_cmpeq_epi8(_mm256_and_si256(byte, mine), _mm256_setzero_si256());
        const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(leaf + i));
        const __m256i goes = _mm256_and_si256(outside, _mm256_cmpeq_epi8(here, parent));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(leaf + i), _mm256_blendv_epi8(here, to, goes));
    }
    divide_by_set_plain(split, code + i, leaf + i, n - i, made);
}
#endif

void divide_by_set(const Split& split, const uint8_t* code, uint8_t* leaf, std::size_t n, uint8_t made) {
#if defined(__x86_64__) && defined(__GNUC__) && (defined(__AVX2__) || !defined(PERMISSIBLE_ONE_VERSION))
    static const bool has_avx2 = __builtin_cpu_supports("avx2");
    if (has_avx2) return divide_by_set_avx2(split, code, leaf, n, made);
#endif
    divide_by_set_plain(split, code, leaf, n, made);
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
    ChunkView view(codes);
    for (std::size_t first = begin; first < end; first += kChunk) {
        const std::size_t n = std::min(kChunk, end - first);
        view.move(first, first + n);
        std::memset(leaf + first, 0, n);
        for (std::size_t s = 0; s < count; ++s)
            divide(splits[s], static_cast<uint8_t>(s + 1), view.column(splits[s].column), leaf + first, 0, n);
    }
}

}  // namespace permissible::boosted
