// Four rows at a time, or one: the same formulas over both. The law: only IEEE operations that round alike in a vector
// and alone, so a row gets the same bits in the body of a loop and in its tail.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace permissible::boosting {

typedef double V4 __attribute__((vector_size(32)));
typedef int64_t I4 __attribute__((vector_size(32)));
typedef float F4 __attribute__((vector_size(16)));

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

inline constexpr double kMagic =
    6755399441055744.0;  // 1.5 * 2^52: adding it rounds a double to an integer in its low bits
inline constexpr int64_t kMagicBits = 0x4338000000000000LL;

/// Types and loads of V rows at once.
template <class V>
struct Lanes;

template <>
struct Lanes<double> {
    using Mask = int64_t;
    static constexpr std::size_t count = 1;
    static PERMISSIBLE_INLINE double load(const double* from) { return *from; }
    static PERMISSIBLE_INLINE void store(double* to, double value) { *to = value; }
    static PERMISSIBLE_INLINE double single(double value) { return static_cast<double>(static_cast<float>(value)); }
    static PERMISSIBLE_INLINE Mask flags(const uint8_t* from) { return -static_cast<int64_t>(*from); }
    static PERMISSIBLE_INLINE double all(double value) { return value; }
};

template <>
struct Lanes<V4> {
    using Mask = I4;
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
    static PERMISSIBLE_INLINE V4 all(double value) { return V4{value, value, value, value}; }
};

PERMISSIBLE_INLINE int64_t below(double a, double b) {
    return -static_cast<int64_t>(a < b);
}
PERMISSIBLE_INLINE I4 below(V4 a, V4 b) {
    return a < b;
}
PERMISSIBLE_INLINE int64_t equal(double a, double b) {
    return -static_cast<int64_t>(a == b);
}
PERMISSIBLE_INLINE I4 equal(V4 a, V4 b) {
    return a == b;
}
PERMISSIBLE_INLINE double select(int64_t mask, double a, double b) {
    return mask ? a : b;
}
PERMISSIBLE_INLINE V4 select(I4 mask, V4 a, V4 b) {
    return mask ? a : b;
}
PERMISSIBLE_INLINE double root(double x) {
    return std::sqrt(x);
}
PERMISSIBLE_INLINE V4 root(V4 x) {
    return V4{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}
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
PERMISSIBLE_INLINE int64_t lifted(double value) {
    return bits_of(value + kMagic);
}
PERMISSIBLE_INLINE I4 lifted(V4 value) {
    return bits_of(value + kMagic);
}
/// A sum modulo 2^64, which is what sums of lifted integers are.
PERMISSIBLE_INLINE int64_t wrapped(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
PERMISSIBLE_INLINE I4 wrapped(I4 a, I4 b) {
    typedef uint64_t U4 __attribute__((vector_size(32)));
    return (I4)((U4)a + (U4)b);
}
PERMISSIBLE_INLINE int64_t total(int64_t value) {
    return value;
}
PERMISSIBLE_INLINE int64_t total(I4 value) {
    return wrapped(wrapped(value[0], value[1]), wrapped(value[2], value[3]));
}
PERMISSIBLE_INLINE double least(double value) {
    return value;
}
PERMISSIBLE_INLINE double least(V4 value) {
    return smaller(smaller(value[0], value[1]), smaller(value[2], value[3]));
}
PERMISSIBLE_INLINE double greatest(double value) {
    return value;
}
PERMISSIBLE_INLINE double greatest(V4 value) {
    return larger(larger(value[0], value[1]), larger(value[2], value[3]));
}

/// The natural logarithm of positive normal numbers, error below 2 units in the last place (fdlibm's reduction,
/// polynomial).
template <class V>
PERMISSIBLE_INLINE V fast_log(V x) {
    using Mask = typename Lanes<V>::Mask;
    const Mask bits = bits_of(x);
    const Mask shifted = bits - 0x3fe6a09e667f3bcdLL;  // exponent counted from sqrt(1/2)
    // Arithmetic shift by 52 through a logical one (AVX2 has no other): lift by 2^11 exponents first.
    const Mask lifted = shifted ^ static_cast<int64_t>(uint64_t{2048} << 52);  // plus 2^63, which is the sign alone
    Mask exponent;
    if constexpr (Lanes<V>::count == 1) {
        exponent = static_cast<int64_t>(static_cast<uint64_t>(lifted) >> 52) - 2048;
    } else {
        typedef uint64_t U4 __attribute__((vector_size(32)));
        exponent = (Mask)((U4)lifted >> 52) - 2048;
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

}  // namespace permissible::boosting
