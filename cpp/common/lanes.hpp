// Eight rows at a time (in the file that defines PERMISSIBLE_EIGHT_LANES), four, or one: the same formulas over all.
// The law: only IEEE operations that round alike in a vector and alone, so a row gets the same bits in the body of a
// loop and in its tail.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace permissible::rules {

#pragma GCC diagnostic ignored "-Wpsabi"  // every function here is inlined: no vector crosses a call
typedef double V4 __attribute__((vector_size(32)));
typedef int64_t I4 __attribute__((vector_size(32)));
typedef float F4 __attribute__((vector_size(16)));
typedef int32_t S4 __attribute__((vector_size(16)));

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

inline constexpr double kMagic =
    6755399441055744.0;  // 1.5 * 2^52: adding it rounds a double to an integer in its low bits
inline constexpr int64_t kMagicBits = 0x4338000000000000LL;

#ifdef PERMISSIBLE_EIGHT_LANES
typedef double V8 __attribute__((vector_size(64)));
typedef int64_t I8 __attribute__((vector_size(64)));

/// A flag of each of eight rows: one bit, where fewer lanes take a whole integer, all ones or zero.
struct Flags8 {
    __mmask8 bits;
    PERMISSIBLE_INLINE Flags8 operator&(Flags8 other) const { return {static_cast<__mmask8>(bits & other.bits)}; }
    PERMISSIBLE_INLINE Flags8 operator|(Flags8 other) const { return {static_cast<__mmask8>(bits | other.bits)}; }
    PERMISSIBLE_INLINE Flags8 operator~() const { return {static_cast<__mmask8>(~bits)}; }
};
#endif

/// Types and loads of V rows at once.
template <class V>
struct Lanes;

template <>
struct Lanes<double> {
    using Ints = int64_t;
    using Flags = int64_t;
    using Count = int64_t;
    static constexpr std::size_t count = 1;
    static PERMISSIBLE_INLINE double load(const double* from) { return *from; }
    static PERMISSIBLE_INLINE void store(double* to, double value) { *to = value; }
    static PERMISSIBLE_INLINE double single(double value) { return static_cast<double>(static_cast<float>(value)); }
    static PERMISSIBLE_INLINE Flags flags(const uint8_t* from) { return -static_cast<int64_t>(*from); }
    static PERMISSIBLE_INLINE int64_t whole(const float* from) { return static_cast<int64_t>(*from); }
    static PERMISSIBLE_INLINE double all(double value) { return value; }
};

template <>
struct Lanes<V4> {
    using Ints = I4;
    using Flags = I4;
    using Count = I4;
    static constexpr std::size_t count = 4;
    static PERMISSIBLE_INLINE V4 load(const double* from) {
        V4 value;
        std::memcpy(&value, from, 32);
        return value;
    }
    static PERMISSIBLE_INLINE void store(double* to, V4 value) { std::memcpy(to, &value, 32); }
    static PERMISSIBLE_INLINE V4 single(V4 value) {  // rounded to single precision
        return __builtin_convertvector(__builtin_convertvector(value, F4), V4);
    }
    static PERMISSIBLE_INLINE I4 flags(const uint8_t* from) {  // one load, one comparison: bytes are 0 or 1
        uint32_t bytes;
        std::memcpy(&bytes, from, 4);
        const int64_t four = bytes;
        const I4 spread = I4{four, four, four, four} & I4{1, 1 << 8, 1 << 16, 1 << 24};
        return spread != 0;
    }
    static PERMISSIBLE_INLINE I4 whole(const float* from) {
        F4 four;
        std::memcpy(&four, from, 16);
        return __builtin_convertvector(__builtin_convertvector(four, S4), I4);
    }
    static PERMISSIBLE_INLINE V4 all(double value) { return V4{value, value, value, value}; }
};

#ifdef PERMISSIBLE_EIGHT_LANES
template <>
struct Lanes<V8> {
    using Ints = I8;
    using Flags = Flags8;
    using Count = int64_t;
    static constexpr std::size_t count = 8;
    static PERMISSIBLE_INLINE V8 load(const double* from) { return _mm512_loadu_pd(from); }
    static PERMISSIBLE_INLINE void store(double* to, V8 value) { _mm512_storeu_pd(to, value); }
    static PERMISSIBLE_INLINE V8 single(V8 value) { return _mm512_cvtps_pd(_mm512_cvtpd_ps(value)); }
    static PERMISSIBLE_INLINE Flags8 flags(const uint8_t* from) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
        return {static_cast<__mmask8>(_mm_test_epi8_mask(bytes, bytes))};
    }
    static PERMISSIBLE_INLINE I8 whole(const float* from) {
        return (I8)_mm512_cvtepi32_epi64(_mm256_cvttps_epi32(_mm256_loadu_ps(from)));
    }
    static PERMISSIBLE_INLINE V8 all(double value) { return _mm512_set1_pd(value); }
};

PERMISSIBLE_INLINE Flags8 below(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)}; }
PERMISSIBLE_INLINE Flags8 equal(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)}; }
PERMISSIBLE_INLINE V8 select(Flags8 flags, V8 a, V8 b) { return _mm512_mask_blend_pd(flags.bits, b, a); }
PERMISSIBLE_INLINE I8 kept(Flags8 flags, I8 value) { return (I8)_mm512_maskz_mov_epi64(flags.bits, (__m512i)value); }
PERMISSIBLE_INLINE int64_t counted(int64_t count, Flags8 flags) { return count + __builtin_popcount(flags.bits); }
PERMISSIBLE_INLINE V8 root(V8 x) { return _mm512_sqrt_pd(x); }
PERMISSIBLE_INLINE I8 bits_of(V8 x) { return (I8)x; }
PERMISSIBLE_INLINE V8 from_bits(I8 bits) { return (V8)bits; }
PERMISSIBLE_INLINE I8 rounded(V8 value) { return (I8)(value + kMagic) - kMagicBits; }
PERMISSIBLE_INLINE I8 lifted(V8 value) { return (I8)(value + kMagic); }
PERMISSIBLE_INLINE I8 wrapped(I8 a, I8 b) { return (I8)_mm512_add_epi64((__m512i)a, (__m512i)b); }
PERMISSIBLE_INLINE int64_t total(I8 value) { return _mm512_reduce_add_epi64((__m512i)value); }
PERMISSIBLE_INLINE double least(V8 value) { return _mm512_reduce_min_pd(value); }
PERMISSIBLE_INLINE double greatest(V8 value) { return _mm512_reduce_max_pd(value); }
#endif

PERMISSIBLE_INLINE int64_t below(double a, double b) { return -static_cast<int64_t>(a < b); }
PERMISSIBLE_INLINE I4 below(V4 a, V4 b) { return a < b; }
PERMISSIBLE_INLINE int64_t equal(double a, double b) { return -static_cast<int64_t>(a == b); }
PERMISSIBLE_INLINE I4 equal(V4 a, V4 b) { return a == b; }
PERMISSIBLE_INLINE double select(int64_t mask, double a, double b) { return mask ? a : b; }
PERMISSIBLE_INLINE V4 select(I4 mask, V4 a, V4 b) { return mask ? a : b; }
/// The integers of flagged rows, 0 of the others.
PERMISSIBLE_INLINE int64_t kept(int64_t flags, int64_t value) { return flags & value; }
PERMISSIBLE_INLINE I4 kept(I4 flags, I4 value) { return flags & value; }
/// A count of rows, plus the flagged ones.
PERMISSIBLE_INLINE int64_t counted(int64_t count, int64_t flags) { return count - flags; }
PERMISSIBLE_INLINE I4 counted(I4 count, I4 flags) { return count - flags; }
PERMISSIBLE_INLINE double root(double x) { return std::sqrt(x); }
PERMISSIBLE_INLINE V4 root(V4 x) { return V4{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])}; }
template <class V>
PERMISSIBLE_INLINE V smaller(V a, V b) {
    return select(below(b, a), b, a);
}
template <class V>
PERMISSIBLE_INLINE V larger(V a, V b) {
    return select(below(a, b), b, a);
}
template <class V>
PERMISSIBLE_INLINE V magnitude(V x) {
    return select(below(x, Lanes<V>::all(0.0)), -x, x);
}

PERMISSIBLE_INLINE int64_t bits_of(double x) {
    int64_t bits;
    std::memcpy(&bits, &x, 8);
    return bits;
}
PERMISSIBLE_INLINE I4 bits_of(V4 x) {
    I4 bits;
    std::memcpy(&bits, &x, 32);
    return bits;
}
PERMISSIBLE_INLINE double from_bits(int64_t bits) {
    double x;
    std::memcpy(&x, &bits, 8);
    return x;
}
PERMISSIBLE_INLINE V4 from_bits(I4 bits) {
    V4 x;
    std::memcpy(&x, &bits, 32);
    return x;
}

/// The nearest integer of each value, |value| < 2^51.
PERMISSIBLE_INLINE int64_t rounded(double value) {
    const double shifted = value + kMagic;
    int64_t bits;
    std::memcpy(&bits, &shifted, 8);
    return bits - kMagicBits;
}
PERMISSIBLE_INLINE I4 rounded(V4 value) {
    const V4 shifted = value + kMagic;
    I4 bits;
    std::memcpy(&bits, &shifted, 32);
    return bits - kMagicBits;
}
/// The same with the bits of kMagic left in: a sum of n of them is n * kMagicBits too large, modulo 2^64.
PERMISSIBLE_INLINE int64_t lifted(double value) { return bits_of(value + kMagic); }
PERMISSIBLE_INLINE I4 lifted(V4 value) { return bits_of(value + kMagic); }
/// A sum modulo 2^64, which is what sums of lifted integers are.
PERMISSIBLE_INLINE int64_t wrapped(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
PERMISSIBLE_INLINE I4 wrapped(I4 a, I4 b) {
    typedef uint64_t U4 __attribute__((vector_size(32)));
    return (I4)((U4)a + (U4)b);
}
PERMISSIBLE_INLINE int64_t total(int64_t value) { return value; }
PERMISSIBLE_INLINE int64_t total(I4 value) { return wrapped(wrapped(value[0], value[1]), wrapped(value[2], value[3])); }
PERMISSIBLE_INLINE double least(double value) { return value; }
PERMISSIBLE_INLINE double least(V4 value) { return smaller(smaller(value[0], value[1]), smaller(value[2], value[3])); }
PERMISSIBLE_INLINE double greatest(double value) { return value; }
PERMISSIBLE_INLINE double greatest(V4 value) { return larger(larger(value[0], value[1]), larger(value[2], value[3])); }

/// The natural logarithm of positive normal numbers, error below 2 units in the last place (fdlibm's reduction,
/// polynomial).
template <class V>
PERMISSIBLE_INLINE V fast_log(V x) {
    using Ints = typename Lanes<V>::Ints;
    const Ints bits = bits_of(x);
    const Ints shifted = bits - 0x3fe6a09e667f3bcdLL;  // exponent counted from sqrt(1/2)
    // Arithmetic shift by 52 through a logical one (AVX2 has no other): lift by 2^11 exponents first.
    const Ints lifted = shifted ^ static_cast<int64_t>(uint64_t{2048} << 52);  // plus 2^63, which is the sign alone
    Ints exponent;
    if constexpr (Lanes<V>::count == 1) {
        exponent = static_cast<int64_t>(static_cast<uint64_t>(lifted) >> 52) - 2048;
    } else {
        typedef uint64_t Unsigned __attribute__((vector_size(sizeof(Ints))));
        exponent = (Ints)((Unsigned)lifted >> 52) - 2048;
    }
    const V m = from_bits(bits - (exponent << 52));
    const V k = from_bits(exponent + kMagicBits) - kMagic;
    const V f = m - 1.0;
    const V s = f / (2.0 + f);
    const V z = s * s;
    const V w = z * z;
    const V t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const V t2 = z * (6.666666666666735130e-01 +
                      w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const V half = 0.5 * f * f;
    return k * 6.93147180369123816490e-01 - ((half - (s * (half + (t1 + t2)) + k * 1.90821492927058770002e-10)) - f);
}

}  // namespace permissible::rules
