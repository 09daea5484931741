// The impurity of a set of rows, W (phi(p) - a) / b, scaled so that one row at p = 1/2 counts 1 (the summand of (49)).
// A built-in phi is one small functor of the two class weights; a user's phi is called once per node on all its cuts.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "common/parallel.hpp"

namespace permissible::trees {

enum class Phi : int { entropy = 0, matsushita = 1, squared = 2, power = 3, logcosh = 4, callback = 5 };

/// out[i] = (phi(p[i]) - a) / b, evaluated by the user's own function.
using UserPhi = std::function<void(const double* probability, std::size_t count, double* out)>;

struct Impurity {
    Phi phi = Phi::entropy;
    double parameter = 0.0;  // upsilon of power, |zeta| of logcosh
    UserPhi user;
};

/// Natural logarithm of a positive normal double to about 1 ulp. Plain arithmetic, so that a loop over it vectorises
/// and gives the same bits at every position (libm's vector variants do not promise that).
inline double plain_log(double x) {
    constexpr std::uint64_t kOneHalfRoot = 0x3FE6A09E667F3BCDull;  // bits of sqrt(1/2)
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) - kOneHalfRoot;
    // Exponent k such that x = 2^k m, m in [sqrt(1/2), sqrt(2)); 1024 keeps it positive while it becomes a double.
    const std::uint64_t shifted = (bits + (1024ull << 52)) >> 52;
    const double k = std::bit_cast<double>(0x4330000000000000ull | shifted) - (4503599627370496.0 + 1024.0);
    const double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFull) + kOneHalfRoot);
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    // Minimax coefficients of 2 artanh(s) on |s| <= 0.1716 (the classic ones of fdlibm).
    const double r = z * (6.666666666666735130e-01 +
                          z * (3.999999999940941908e-01 +
                               z * (2.857142874366239149e-01 +
                                    z * (2.222219843214978396e-01 +
                                         z * (1.818357216161805012e-01 +
                                              z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
    const double half_square = 0.5 * f * f;
    return k * 6.93147180369123816490e-01 -
           ((half_square - (s * (half_square + r) + k * 1.90821492927058770002e-10)) - f);
}

inline double log_cosh(double x) {
    const double z = std::fabs(x);
    return z + std::log1p(std::exp(-2.0 * z)) - 0.69314718055994530942;
}

/// W f(p) for one set of rows with `positive` and `negative` weight; 0 when it is pure. Symmetric in its arguments.
struct Entropy {
    double operator()(double positive, double negative) const {
        constexpr double kTiny = 1e-300;
        const double total = positive + negative;
        const double p = positive / total, q = negative / total;
        const double log_p = plain_log(p > kTiny ? p : kTiny), log_q = plain_log(q > kTiny ? q : kTiny);
        return -(positive * log_p + negative * log_q) * 1.44269504088896340736;
    }
};
struct Matsushita {
    double operator()(double positive, double negative) const { return 2.0 * std::sqrt(positive * negative); }
};
struct Squared {
    double operator()(double positive, double negative) const {
        return 4.0 * (positive * negative) / (positive + negative);
    }
};
struct Power {
    double upsilon;
    double operator()(double positive, double negative) const {
        const double total = positive + negative;
        return total * std::pow(4.0 * (positive / total) * (negative / total), upsilon);
    }
};
struct LogCosh {
    double z;
    double operator()(double positive, double negative) const {
        const double total = positive + negative;
        if (positive <= 0 || negative <= 0) return 0.0;
        const double top = log_cosh(0.25 * z);
        return total * ((top - log_cosh(0.25 * z * ((positive - negative) / total))) / top);
    }
};

/// out[i] = impurity of the set i. sums: class-major, sums[c * stride + i]. Two classes: W f(p); more: the sum over the
/// classes of each one against the rest.
void impurities(const Impurity& impurity, const double* sums, std::size_t stride, int classes, std::size_t count,
                double* out);

}  // namespace permissible::trees
