// exp without branches or calls: of one double, or of a pack of them (a vector type). Only +, *, shifts: each lane does
// what one double does, and a row's value does not depend on its position. Relative error below 4e-16 (tested).
#pragma once

#include <bit>
#include <cstdint>

namespace permissible {

/// exp of |x| <= 708. `Bits` is int64_t, or a pack of as many. Always inlined, so that a file that allows fused
/// multiply-adds has its own.
template <typename Number, typename Bits>
inline __attribute__((always_inline)) Number exponential_within(Number x) {
    constexpr double kLog2e = 1.4426950408889634, kLn2High = 6.93147180369123816490e-01,
                     kLn2Low = 1.90821492927058770002e-10, kShift = 6755399441055744.0;  // 1.5 * 2^52
    const Number shifted = x * kLog2e + kShift;
    const Number n = shifted - kShift;
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
inline __attribute__((always_inline)) Number exponential(Number x) {
    const Number highest = Number{} + 708.0, lowest = Number{} - 708.0;
    x = x > highest ? highest : x;
    x = x < lowest ? lowest : x;
    return exponential_within<Number, Bits>(x);
}

inline __attribute__((always_inline)) double vexp_within(double x) { return exponential_within<double, int64_t>(x); }

inline __attribute__((always_inline)) double vexp(double x) { return exponential<double, int64_t>(x); }

}  // namespace permissible
