// The natural logarithm in plain arithmetic, so that a loop over rows becomes vector code and a row's bits do not
// depend on its place. Positive normal arguments; error below 2 units in the last place (fdlibm's reduction and
// polynomial).
#pragma once

#include <cstdint>
#include <cstring>

namespace permissible::boosting {

inline double fast_log(double x) {
    int64_t bits;
    std::memcpy(&bits, &x, 8);
    const int64_t shifted = bits - 0x3fe6a09e667f3bcdLL;  // exponent counted from sqrt(1/2)
    // Arithmetic shift by 52 without a 64-bit one (AVX2 has none): add 2^11 exponents, shift, take them off again.
    const uint64_t lifted = static_cast<uint64_t>(shifted) + (uint64_t{2048} << 52);
    const int64_t exponent = static_cast<int64_t>(lifted >> 52) - 2048;
    const int64_t mantissa = bits - static_cast<int64_t>(static_cast<uint64_t>(exponent) << 52);
    double m;
    std::memcpy(&m, &mantissa, 8);
    // The exponent as a double by way of its bits: 1.5 * 2^52 + exponent.
    const int64_t as_bits = 0x4338000000000000LL + exponent;
    double k;
    std::memcpy(&k, &as_bits, 8);
    k -= 6755399441055744.0;
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double w = z * z;
    const double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double t2 =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const double half = 0.5 * f * f;
    return k * 6.93147180369123816490e-01 - ((half - (s * (half + (t1 + t2)) + k * 1.90821492927058770002e-10)) - f);
}

}  // namespace permissible::boosting
