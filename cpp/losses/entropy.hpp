// The entropy impurity of four sets of rows at a time, with a logarithm of plain arithmetic. libm's logarithm takes 15
// ns and its vector variants do not promise the same bits at every position; here every lane does the same operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace permissible::trees {

constexpr std::size_t kLanes = 4;
typedef double Doubles __attribute__((vector_size(kLanes * sizeof(double))));
typedef std::uint64_t Bits __attribute__((vector_size(kLanes * sizeof(double))));

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

/// Natural logarithm of positive normal doubles, to about 1 ulp.
PERMISSIBLE_INLINE void plain_log(const Doubles& x, Doubles& out) {
    constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCDull;  // bits of sqrt(1/2)
    const Bits bits = (Bits)x - kRootHalf;
    // Exponent k such that x = 2^k m, m in [sqrt(1/2), sqrt(2)); 1024 keeps it positive while it becomes a double.
    const Bits shifted = (bits + (1024ull << 52)) >> 52;
    const Doubles k = (Doubles)(shifted | 0x4330000000000000ull) - (4503599627370496.0 + 1024.0);
    const Doubles m = (Doubles)((bits & 0x000FFFFFFFFFFFFFull) + kRootHalf);
    const Doubles f = m - 1.0;
    const Doubles s = f / (2.0 + f);
    const Doubles z = s * s;
    // Minimax coefficients of 2 artanh(s) on |s| <= 0.1716 (the classic ones of fdlibm).
    const Doubles r = z * (6.666666666666735130e-01 +
                           z * (3.999999999940941908e-01 +
                                z * (2.857142874366239149e-01 +
                                     z * (2.222219843214978396e-01 +
                                          z * (1.818357216161805012e-01 +
                                               z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
    const Doubles half_square = 0.5 * f * f;
    out =
        k * 6.93147180369123816490e-01 - ((half_square - (s * (half_square + r) + k * 1.90821492927058770002e-10)) - f);
}

/// -(W+ log2 p + W- log2 (1 - p)), p = W+ / (W+ + W-); 0 when one of them is 0.
PERMISSIBLE_INLINE void entropy(const Doubles& positive, const Doubles& negative, Doubles& out) {
    const Doubles tiny = {1e-300, 1e-300, 1e-300, 1e-300};
    const Doubles total = positive + negative;
    const Doubles p = positive / total, q = negative / total;
    Doubles log_p, log_q;
    plain_log(p > tiny ? p : tiny, log_p);
    plain_log(q > tiny ? q : tiny, log_q);
    out = -(positive * log_p + negative * log_q) * 1.44269504088896340736;
}

/// The same over arrays. The last few go through a padded copy, and so through the same operations.
PERMISSIBLE_INLINE void entropies(const double* negative, const double* positive, std::size_t count, double* out) {
    const std::size_t whole = count / kLanes * kLanes;
    Doubles p, n, value;
    for (std::size_t i = 0; i < whole; i += kLanes) {
        std::memcpy(&p, positive + i, sizeof p);
        std::memcpy(&n, negative + i, sizeof n);
        entropy(p, n, value);
        std::memcpy(out + i, &value, sizeof value);
    }
    if (whole == count) return;
    p = n = Doubles{1.0, 1.0, 1.0, 1.0};
    std::memcpy(&p, positive + whole, (count - whole) * sizeof(double));
    std::memcpy(&n, negative + whole, (count - whole) * sizeof(double));
    entropy(p, n, value);
    std::memcpy(out + whole, &value, (count - whole) * sizeof(double));
}

}  // namespace permissible::trees
