// See compress.hpp.
#include "histogram/compress.hpp"

#include "common/avx512.hpp"

namespace permissible {

namespace {

/// The rows of a run whose mask is as wanted, and their values, moved together; returns how many.
std::size_t rows_plain(const uint8_t* mask, uint8_t wanted, std::size_t begin, const int64_t* packed, std::size_t n,
                       int64_t* values, uint32_t* chosen) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        chosen[count] = static_cast<uint32_t>(begin + i);
        values[count] = packed[i];
        count += mask[i] == wanted;
    }
    return count;
}

#ifdef PERMISSIBLE_AVX512
PERMISSIBLE_AVX512 std::size_t rows_wide(const uint8_t* mask, uint8_t wanted, std::size_t begin, const int64_t* packed,
                                         std::size_t n, int64_t* values, uint32_t* chosen) {
    const __m128i want = _mm_set1_epi8(static_cast<char>(wanted));
    const __m256i step = _mm256_set1_epi32(8);
    __m256i row =
        _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(begin)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    std::size_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(mask + i));
        const auto kept = static_cast<__mmask8>(_mm_cmpeq_epi8_mask(bytes, want));
        _mm512_storeu_si512(values + count, _mm512_maskz_compress_epi64(kept, _mm512_loadu_si512(packed + i)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(chosen + count), _mm256_maskz_compress_epi32(kept, row));
        count += static_cast<std::size_t>(__builtin_popcount(kept));
        row = _mm256_add_epi32(row, step);
    }
    return count + rows_plain(mask + i, wanted, begin + i, packed + i, n - i, values + count, chosen + count);
}
#else
constexpr auto rows_wide = rows_plain;
#endif

/// The words of the rows whose flag is as wanted, next to each other; returns how many. Up to eight words beyond them
/// are overwritten.
std::size_t words_plain(const uint8_t* flags, uint8_t wanted, const void* words, std::size_t n, void* to) {
    const auto* from = static_cast<const uint64_t*>(words);
    auto* out = static_cast<uint64_t*>(to);
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        out[count] = from[i];
        count += flags[i] == wanted;
    }
    return count;
}

#ifdef PERMISSIBLE_AVX512
PERMISSIBLE_AVX512 std::size_t words_wide(const uint8_t* flags, uint8_t wanted, const void* words, std::size_t n,
                                          void* to) {
    const __m128i want = _mm_set1_epi8(static_cast<char>(wanted));
    const auto* from = static_cast<const uint64_t*>(words);
    auto* out = static_cast<uint64_t*>(to);
    std::size_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        const auto kept = static_cast<__mmask8>(
            _mm_cmpeq_epi8_mask(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(flags + i)), want) & 255);
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi64(kept, _mm512_loadu_si512(from + i)));
        count += static_cast<std::size_t>(__builtin_popcount(kept));
    }
    return count + words_plain(flags + i, wanted, from + i, n - i, out + count);
}
#else
constexpr auto words_wide = words_plain;
#endif

}  // namespace

std::size_t compress_rows(const uint8_t* mask, uint8_t wanted, std::size_t begin, const int64_t* packed, std::size_t n,
                          int64_t* values, uint32_t* chosen) {
    static const auto compress = has_avx512() ? rows_wide : rows_plain;
    return compress(mask, wanted, begin, packed, n, values, chosen);
}

std::size_t compress_words(const uint8_t* flags, uint8_t wanted, const void* words, std::size_t n, void* to) {
    static const auto compress = has_avx512() ? words_wide : words_plain;
    return compress(flags, wanted, words, n, to);
}

}  // namespace permissible
