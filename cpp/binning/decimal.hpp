// A readable threshold: the shortest decimal near the midpoint of two neighbouring data values, strictly between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace permissible::binning {

// Powers of ten that a double holds exactly (up to 10^22), so m / 10^k is the double nearest to the decimal.
inline constexpr double kTen[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr double kTenth[23] = {1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15,
                                      1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,
                                      1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0};

/// The largest k with 10^k <= x, for 1e-22 <= x < 1e22.
inline int decade(double x) {
    if (x >= 1.0) return static_cast<int>(std::upper_bound(std::begin(kTen), std::end(kTen), x) - kTen) - 1;
    return static_cast<int>(std::upper_bound(std::begin(kTenth), std::end(kTenth), x) - kTenth) - 23;
}

/// Digit by digit with the C library, for values outside the reach of exact powers of ten.
inline double separate_slowly(double lower, double upper, double middle) {
    char text[40];
    for (int digits = 0; digits < 17; ++digits) {
        std::snprintf(text, sizeof text, "%.*e", digits, middle);
        const double candidate = std::strtod(text, nullptr);
        if (lower < candidate && candidate < upper) return candidate;
    }
    return lower;
}

/// t with lower <= t < upper (strictly between if there is a double between them): the midpoint rounded to the fewest
/// digits.
inline double separate(double lower, double upper) {
    const double middle = lower / 2 + upper / 2;
    const double width = upper - lower;
    const double size = std::fabs(middle);
    if (lower < 0 && upper > 0 && middle == 0) return 0.0;
    if (!(width >= 1e-20 && width < 1e20 && size >= 1e-20 && size < 1e15 && size < width * 1e14))
        return separate_slowly(lower, upper, middle);
    int k = std::min(decade(width) + 1, decade(size));
    for (int tries = 0; tries < 4; ++tries, --k) {
        double candidate;
        if (k >= 0)
            candidate = std::nearbyint(middle / kTen[k]) * kTen[k];
        else if (k >= -22)
            candidate = std::nearbyint(middle * kTen[-k]) / kTen[-k];
        else
            break;
        if (lower < candidate && candidate < upper) return candidate;
    }
    return separate_slowly(lower, upper, middle);
}

}  // namespace permissible::binning
