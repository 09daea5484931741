// exp without branches or calls, so that the compiler can run it four rows at a time. Only +, *, shifts: each lane does
// what the scalar tail does, and a row's value does not depend on its position. Relative error below 4e-16 (tested).
#pragma once

#include <cstdint>
#include <cstring>

namespace permissible::mcboost {

inline double vexp(double x) {
    constexpr double kLog2e = 1.4426950408889634, kLn2High = 6.93147180369123816490e-01,
                     kLn2Low = 1.90821492927058770002e-10, kShift = 6755399441055744.0;  // 1.5 * 2^52
    x = x > 708.0 ? 708.0 : x;
    x = x < -708.0 ? -708.0 : x;
    const double shifted = x * kLog2e + kShift;
    const double n = shifted - kShift;
    const double r = (x - n * kLn2High) - n * kLn2Low;
    double p = 1.0 / 6227020800.0;  // Taylor to degree 13: |r| <= ln(2)/2 leaves 5e-18
    p = p * r + 1.0 / 479001600.0;
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
    int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);  // the low bits of `shifted` are n, in two's complement
    const int64_t power = (bits + 1023) << 52;
    double scale;
    std::memcpy(&scale, &power, sizeof scale);
    return p * scale;
}

}  // namespace permissible::mcboost
