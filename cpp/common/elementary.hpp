// exp and log without branches or calls: of one double, or of a pack of them (a vector type). Each lane does what one
// double does, so a row's value does not depend on its position. Relative error of exp below 4e-16, of log below 2
// units in the last place (tested).
#pragma once

#include <bit>
#include <cstdint>

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

namespace permissible {

inline constexpr double kMagic = 0x1.8p52;  // adding it rounds a double to an integer in its low bits
inline constexpr int64_t kMagicBits = 0x4338000000000000;
inline constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

/// exp of |x| <= 708. `Bits` is int64_t, or a pack of as many. Always inlined, so that a file that allows fused
/// multiply-adds has its own version.
template <typename Number, typename Bits>
PERMISSIBLE_INLINE Number exponential_within(Number x) {
    constexpr double kLog2e = 1.4426950408889634;
    const Number shifted = x * kLog2e + kMagic;
    const Number n = shifted - kMagic;
    const Number r = (x - n * kLn2High) - n * kLn2Low;
    Number p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;  // Taylor to degree 13: |r| <= ln(2)/2 leaves 5e-18
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r * r + r + 1.0;
    // the low bits of `shifted` are n, in two's complement
    const Bits power = (std::bit_cast<Bits>(shifted) + 1023) << 52;
    return p * std::bit_cast<Number>(power);
}

/// exp of any x, clipped to [-708, 708].
template <typename Number, typename Bits>
PERMISSIBLE_INLINE Number exponential(Number x) {
    const Number highest = Number{} + 708.0, lowest = Number{} - 708.0;
    x = x > highest ? highest : x;
    x = x < lowest ? lowest : x;
    return exponential_within<Number, Bits>(x);
}

PERMISSIBLE_INLINE double vexp_within(double x) { return exponential_within<double, int64_t>(x); }

PERMISSIBLE_INLINE double vexp(double x) { return exponential<double, int64_t>(x); }

/// log of positive normal numbers; fdlibm's reduction and polynomial. `Bits` is uint64_t, or a pack of as many.
template <typename Number, typename Bits>
PERMISSIBLE_INLINE Number logarithm(Number x) {
    constexpr uint64_t kRootHalf = 0x3FE6A09E667F3BCD;  // the bits of sqrt(1/2)
    const Bits above = __builtin_bit_cast(Bits, x) - kRootHalf;
    // x = 2^k m with m in [sqrt(1/2), sqrt(2)); 2048 keeps the exponent positive until it is a double.
    const Bits exponent = (above + (uint64_t{2048} << 52)) >> 52;
    const Number k = __builtin_bit_cast(Number, exponent + static_cast<uint64_t>(kMagicBits)) - (kMagic + 2048.0);
    const Number f = __builtin_bit_cast(Number, (above & 0x000FFFFFFFFFFFFF) + kRootHalf) - 1.0;
    const Number s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    const Number even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const Number odd =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    return k * kLn2High - ((half - (s * (half + (even + odd)) + k * kLn2Low)) - f);
}

}  // namespace permissible
