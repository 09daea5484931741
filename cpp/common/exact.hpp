// The exact sum of any doubles, rounded once at the end: it depends neither on the order of the terms nor on how they
// were split. For terms with a known bound integers on a grid are cheaper (grids.hpp); these sums take terms of any
// size.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace permissible {

/// Limbs of 32 bits, lowest first, each in 64: limb k counts 2^(32 k - 1074). The last one counts infinities and NaN.
class Accumulator {
  public:
    static constexpr int kLimbs = 68;
    std::array<int64_t, kLimbs + 1> limbs{};

    /// Adds a term, or the same term `times` over. Up to 2^31 terms may be added before `carry`.
    void add(double x, int64_t times = 1) {
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const auto exponent = static_cast<int>((bits >> 52) & 2047);
        if (exponent == 2047) {
            limbs[kLimbs] += times;
            return;
        }
        const uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFull) | (static_cast<uint64_t>(exponent != 0) << 52);
        const int place = exponent - (exponent != 0), k = place >> 5, shift = place & 31;
        const uint64_t low = mantissa << shift, high = (mantissa >> 1) >> (63 - shift);
        const int64_t sign = (bits >> 63) ? -times : times;
        limbs[k] += sign * static_cast<int64_t>(low & 0xFFFFFFFFull);
        limbs[k + 1] += sign * static_cast<int64_t>(low >> 32);
        limbs[k + 2] += sign * static_cast<int64_t>(high);
    }

    /// Every limb but the highest into [0, 2^32): the value stays.
    void carry() {
        for (int k = 0; k + 1 < kLimbs; ++k) {
            const int64_t over = limbs[k] >> 32;
            limbs[k] -= over * (int64_t{1} << 32);
            limbs[k + 1] += over;
        }
    }

    void merge(const Accumulator& other) {
        for (int k = 0; k <= kLimbs; ++k) limbs[k] += other.limbs[k];
        carry();
    }

    /// The sum as the nearest double.
    double value() const {
        if (limbs[kLimbs] != 0) return std::numeric_limits<double>::infinity();
        Accumulator exact = *this;
        exact.carry();
        const bool negative = exact.limbs[kLimbs - 1] < 0;
        if (negative) {
            for (int k = 0; k < kLimbs; ++k) exact.limbs[k] = -exact.limbs[k];
            exact.carry();
        }
        int top = kLimbs - 1;
        while (top >= 0 && exact.limbs[top] == 0) --top;
        if (top < 0) return 0.0;
        unsigned __int128 leading = 0;
        for (int k = top; k > top - 3; --k)
            leading = (leading << 32) | static_cast<uint64_t>(k >= 0 ? exact.limbs[k] : 0);
        for (int k = top - 3; k >= 0; --k)
            if (exact.limbs[k] != 0) {
                leading |= 1;  // what lies below decides ties only
                break;
            }
        const double size = std::ldexp(static_cast<double>(leading), 32 * (top - 2) - 1074);
        return negative ? -size : size;
    }
};

}  // namespace permissible
