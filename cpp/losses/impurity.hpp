// The impurity of a set of rows, W (phi(p) - a) / b, scaled so that one row at p = 1/2 counts 1 (the summand of (49)).
// A built-in phi is one small functor of the two class weights; a user's phi is called once per node for all its
// splits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/parallel.hpp"

namespace permissible::trees {

enum class Phi : int { entropy = 0, matsushita = 1, squared = 2, power = 3, logcosh = 4, callback = 5 };

/// out[i] = (phi(p[i]) - a) / b, evaluated by the user's own function.
using UserPhi = std::function<void(const double* probability, std::size_t count, double* out)>;

struct Impurity {
    Phi phi = Phi::entropy;
    double parameter = 0.0;  // upsilon of power, |zeta| of logcosh
    UserPhi user;
    bool joint = false;         // several classes: Shannon's entropy of all of them instead of the sum (entropy only)
    std::vector<double> costs;  // K x K, C[true, predicted]; empty: every mistake counts alike
};

inline double log_cosh(double x) {
    const double z = std::fabs(x);
    return z + std::log1p(std::exp(-2.0 * z)) - 0.69314718055994530942;
}

/// W f(p) for one set of rows with `positive` and `negative` weight; 0 when it is pure. Symmetric in its arguments.
/// The entropy needs logarithms, four at a time: see impurity.cpp.
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
/// classes of each one against the rest, or the joint entropy. With costs half the sum over the classes k of
/// (u + v) f(v / (u + v)), u_k = sum_j W_j C_jk what predicting k costs and v_k = W_k times the mean cost of missing k:
/// concave, 0 when pure, and nowhere below the least expected cost min_k u_k.
void impurities(const Impurity& impurity, const double* sums, std::size_t stride, int classes, std::size_t count,
                double* out);

}  // namespace permissible::trees
