// The scores of rules.cpp with AVX2: the same sums in the same order, so the same bits; chosen at run time.
//
// A comparison of 8 values is 8 bits, a literal on 128 rows is 16 bytes, a rule is the `and` of its literals. The bytes
// of eight rules are transposed, and the sign bits of 32 bytes at a time are the patterns of rows.
#include "predict/rules.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <algorithm>

#define PERMISSIBLE_AVX2 __attribute__((target("avx2")))

namespace permissible::rules {

namespace {

constexpr std::size_t kRows = kScoreRows;

PERMISSIBLE_AVX2 void transpose8(const char* from, std::ptrdiff_t stride, float* to, std::size_t to_stride) {
    __m256 r[8], t[8];
    for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * stride));
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
    for (int i = 0; i < 4; ++i) {
        _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

PERMISSIBLE_AVX2 void transpose4(const char* from, std::ptrdiff_t stride, double* to, std::size_t to_stride) {
    __m256d r[4];
    for (int i = 0; i < 4; ++i) r[i] = _mm256_loadu_pd(reinterpret_cast<const double*>(from + i * stride));
    const __m256d a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
    const __m256d c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
    _mm256_storeu_pd(to, _mm256_permute2f128_pd(a, c, 0x20));
    _mm256_storeu_pd(to + to_stride, _mm256_permute2f128_pd(b, d, 0x20));
    _mm256_storeu_pd(to + 2 * to_stride, _mm256_permute2f128_pd(a, c, 0x31));
    _mm256_storeu_pd(to + 3 * to_stride, _mm256_permute2f128_pd(b, d, 0x31));
}

template <int Test>
PERMISSIBLE_AVX2 inline __m256 tested(__m256 x, __m256 t) {
    return Test == 0   ? _mm256_cmp_ps(x, t, _CMP_LE_OQ)
           : Test == 1 ? _mm256_cmp_ps(x, t, _CMP_GT_OQ)
                       : _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
}

template <int Test>
PERMISSIBLE_AVX2 inline __m256d tested(__m256d x, __m256d t) {
    return Test == 0   ? _mm256_cmp_pd(x, t, _CMP_LE_OQ)
           : Test == 1 ? _mm256_cmp_pd(x, t, _CMP_GT_OQ)
                       : _mm256_cmp_pd(x, x, _CMP_UNORD_Q);
}

template <int Test>
PERMISSIBLE_AVX2 void bits_of(const float* values, float threshold, uint8_t* out) {
    const __m256 t = _mm256_set1_ps(threshold);
    for (std::size_t g = 0; g < kRows / 8; ++g) {
        out[g] = static_cast<uint8_t>(_mm256_movemask_ps(tested<Test>(_mm256_loadu_ps(values + 8 * g), t)));
    }
}

template <int Test>
PERMISSIBLE_AVX2 void bits_of(const double* values, double threshold, uint8_t* out) {
    const __m256d t = _mm256_set1_pd(threshold);
    for (std::size_t g = 0; g < kRows / 8; ++g) {
        const int low = _mm256_movemask_pd(tested<Test>(_mm256_loadu_pd(values + 8 * g), t));
        const int high = _mm256_movemask_pd(tested<Test>(_mm256_loadu_pd(values + 8 * g + 4), t));
        out[g] = static_cast<uint8_t>(low | high << 4);
    }
}

template <typename T>
PERMISSIBLE_AVX2 void literal_bits(const T* values, const ValueLiteral& literal, T threshold, uint8_t* out) {
    if (literal.test == ValueTest::at_most) {
        bits_of<0>(values, threshold, out);
    } else if (literal.test == ValueTest::above) {
        bits_of<1>(values, threshold, out);
    } else {
        bits_of<2>(values, threshold, out);
        if (literal.test == ValueTest::present) {
            for (std::size_t g = 0; g < kRows / 8; ++g) out[g] = static_cast<uint8_t>(~out[g]);
        }
        return;
    }
    if (literal.missing) {
        uint8_t absent[kRows / 8];
        bits_of<2>(values, threshold, absent);
        for (std::size_t g = 0; g < kRows / 8; ++g) out[g] |= absent[g];
    }
}

void category_bits(const int32_t* values, const uint8_t* member, uint8_t* out) {
    for (std::size_t g = 0; g < kRows / 8; ++g) {
        unsigned bits = 0;
        for (unsigned k = 0; k < 8; ++k) bits |= static_cast<unsigned>(member[values[8 * g + k] + 2] != 0) << k;
        out[g] = static_cast<uint8_t>(bits);
    }
}

/// Bytes of eight rules (16 each, one bit per row) as one pattern byte per row.
PERMISSIBLE_AVX2 void patterns_of(const __m128i* rule, uint8_t* pattern) {
    // Transpose 8 x 16 bytes: group g's eight bytes, one per rule, become adjacent.
    const __m128i a0 = _mm_unpacklo_epi8(rule[0], rule[1]), a1 = _mm_unpackhi_epi8(rule[0], rule[1]);
    const __m128i b0 = _mm_unpacklo_epi8(rule[2], rule[3]), b1 = _mm_unpackhi_epi8(rule[2], rule[3]);
    const __m128i c0 = _mm_unpacklo_epi8(rule[4], rule[5]), c1 = _mm_unpackhi_epi8(rule[4], rule[5]);
    const __m128i d0 = _mm_unpacklo_epi8(rule[6], rule[7]), d1 = _mm_unpackhi_epi8(rule[6], rule[7]);
    const __m128i halves[2][4] = {{a0, b0, c0, d0}, {a1, b1, c1, d1}};
    for (int half = 0; half < 2; ++half) {
        const __m128i* h = halves[half];
        const __m128i e0 = _mm_unpacklo_epi16(h[0], h[1]), e1 = _mm_unpackhi_epi16(h[0], h[1]);
        const __m128i f0 = _mm_unpacklo_epi16(h[2], h[3]), f1 = _mm_unpackhi_epi16(h[2], h[3]);
        const __m256i quads[2] = {
            _mm256_set_m128i(_mm_unpackhi_epi32(e0, f0), _mm_unpacklo_epi32(e0, f0)),
            _mm256_set_m128i(_mm_unpackhi_epi32(e1, f1), _mm_unpacklo_epi32(e1, f1)),
        };
        for (int q = 0; q < 2; ++q) {
            __m256i bytes = quads[q];
            uint8_t* to = pattern + (half * 2 + q) * 32;  // four groups of eight rows
            for (int row = 7; row >= 0; --row) {          // the sign bit is the last row of a group
                const auto found = static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
                to[row] = static_cast<uint8_t>(found);
                to[8 + row] = static_cast<uint8_t>(found >> 8);
                to[16 + row] = static_cast<uint8_t>(found >> 16);
                to[24 + row] = static_cast<uint8_t>(found >> 24);
                bytes = _mm256_add_epi8(bytes, bytes);
            }
        }
    }
}

template <typename T>
PERMISSIBLE_AVX2 void gather_matrix(const ScoreInput& input, std::size_t begin, std::size_t n, T* values) {
    constexpr std::size_t step = 32 / sizeof(T);
    const char* base = input.base + static_cast<std::ptrdiff_t>(begin) * input.stride;
    const std::size_t whole_rows = input.width < step ? 0 : n / step * step;
    for (std::size_t i = 0; i < whole_rows; i += step) {
        const char* row = base + static_cast<std::ptrdiff_t>(i) * input.stride;
        for (std::size_t next = 0; next < input.width; next += step) {
            const std::size_t c = std::min(next, input.width - step);  // the last columns may come twice
            if constexpr (sizeof(T) == 4) {
                transpose8(row + c * sizeof(T), input.stride, values + c * kRows + i, kRows);
            } else {
                transpose4(row + c * sizeof(T), input.stride, values + c * kRows + i, kRows);
            }
        }
    }
    for (std::size_t c = 0; c < input.width; ++c) {
        for (std::size_t i = whole_rows; i < n; ++i) {
            const char* at = base + static_cast<std::ptrdiff_t>(i) * input.stride + c * sizeof(T);
            values[c * kRows + i] = *reinterpret_cast<const T*>(at);
        }
    }
}

/// What the groups of rules add to the score of each row, groups in order; rows side by side, so that their sums do not
/// wait for each other.
PERMISSIBLE_AVX2 void sum_groups(const RuleSet& set, const uint8_t* patterns, std::size_t n, double* score) {
    constexpr std::size_t together = 8;
    const std::size_t n_groups = set.group_sum.size();
    double sums[together];
    for (std::size_t i = 0; i < n; i += together) {
        for (double& sum : sums) sum = set.intercept;
        for (std::size_t group = 0; group < n_groups; ++group) {
            const double* sum_of = set.group_sum[group].data();
            const uint8_t* pattern = patterns + group * kRows + i;
#pragma GCC unroll 8
            for (std::size_t k = 0; k < together; ++k) sums[k] += sum_of[pattern[k]];
        }
        std::copy(sums, sums + std::min(together, n - i), score + i);
    }
}

/// The rows of the next chunk are prefetched while this one is compared, a few lines per literal.
class Ahead {
  public:
    Ahead(const ScoreInput& input, std::size_t begin, std::size_t n_literals) {
        if (input.base == nullptr || n_literals == 0) return;
        constexpr std::size_t line = 64;
        next_ = input.base + static_cast<std::ptrdiff_t>(begin) * input.stride;
        bytes_ = (kRows * static_cast<std::size_t>(input.stride) + n_literals - 1) / n_literals;
        bytes_ = (bytes_ + line - 1) / line * line;
    }
    void fetch() {  // beyond the end of the matrix a prefetch does nothing
        for (std::size_t at = 0; at < bytes_; at += 64) _mm_prefetch(next_ + at, _MM_HINT_T0);
        next_ += bytes_;
    }

  private:
    const char* next_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace

bool have_avx2() { return __builtin_cpu_supports("avx2"); }

PERMISSIBLE_AVX2 void score_chunk_avx2(const ScoreInput& input, const RuleSet& set, std::size_t begin, std::size_t n,
                                       ScoreSpace& space, double* score) {
    if (input.base != nullptr) {
        if (input.columns[0].type == ColumnType::float32) {
            gather_matrix(input, begin, n, reinterpret_cast<float*>(space.values.data()));
        } else {
            gather_matrix(input, begin, n, reinterpret_cast<double*>(space.values.data()));
        }
    } else {
        gather_columns(input, begin, n, space);
    }
    Ahead ahead(input, begin + n, set.literals.size());
    for (std::size_t k = 0; k < set.literals.size(); ++k) {
        ahead.fetch();
        const ValueLiteral& literal = set.literals[k];
        const auto c = static_cast<std::size_t>(literal.column);
        const char* values = space.values.data() + input.place(c);
        uint8_t* bits = space.masks.data() + k * (kRows / 8);
        switch (input.columns[c].type) {
            case ColumnType::float64:
                literal_bits(reinterpret_cast<const double*>(values), literal, literal.threshold, bits);
                break;
            case ColumnType::float32:
                literal_bits(reinterpret_cast<const float*>(values), literal, float_below(literal.threshold), bits);
                break;
            case ColumnType::category:
                category_bits(reinterpret_cast<const int32_t*>(values), literal.member, bits);
                break;
        }
    }
    const std::size_t n_groups = set.group_sum.size();
    for (std::size_t group = 0; group < n_groups; ++group) {
        __m128i rule[8];
        for (std::size_t r = 0; r < 8; ++r) {
            rule[r] = _mm_setzero_si128();
            if (group * 8 + r >= set.rules.size()) continue;
            rule[r] = _mm_set1_epi8(-1);
            for (const int k : set.rules[group * 8 + r]) {
                const uint8_t* bits = space.masks.data() + static_cast<std::size_t>(k) * (kRows / 8);
                rule[r] = _mm_and_si128(rule[r], _mm_loadu_si128(reinterpret_cast<const __m128i*>(bits)));
            }
        }
        patterns_of(rule, space.patterns.data() + group * kRows);
    }
    sum_groups(set, space.patterns.data(), n, score);
}

}  // namespace permissible::rules

#else

namespace permissible::rules {

bool have_avx2() { return false; }
void score_chunk_avx2(const ScoreInput&, const RuleSet&, std::size_t, std::size_t, ScoreSpace&, double*) {}

}  // namespace permissible::rules

#endif
