// Eight rows at a time, four, or one: the same formulas for all widths, with the vector types of the compiler. Only
// IEEE operations are used, which round alike in vectors and scalars, so a row gets the same bits in the body of a loop
// and in its tail.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/avx512.hpp"
#include "common/elementary.hpp"

namespace permissible {

#pragma GCC diagnostic ignored "-Wpsabi"  // every function here is inlined: no vector crosses a call
template <class T, std::size_t N>
struct VectorOf {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, std::size_t N>
using Vector = typename VectorOf<T, N>::type;
using V4 = Vector<double, 4>;
using V8 = Vector<double, 8>;
using I8 = Vector<int64_t, 8>;

/// Types and loads of the rows that V holds. Flags are integers of the rows, all ones or zero.
template <class V>
struct Lanes;

template <>
struct Lanes<double> {
    using Ints = int64_t;
    using Unsigned = uint64_t;
    static constexpr std::size_t count = 1;
    static PERMISSIBLE_INLINE double load(const double* from) { return *from; }
    static PERMISSIBLE_INLINE void store(double* to, double value) { *to = value; }
    static PERMISSIBLE_INLINE void store(float* to, double value) { *to = static_cast<float>(value); }
    static PERMISSIBLE_INLINE double single(double value) { return static_cast<double>(static_cast<float>(value)); }
    static PERMISSIBLE_INLINE int64_t flags(const uint8_t* from) { return -static_cast<int64_t>(*from != 0); }
    static PERMISSIBLE_INLINE int64_t ints(const float* from) { return static_cast<int64_t>(*from); }
    static PERMISSIBLE_INLINE int64_t ints(const int32_t* from) { return *from; }
    static PERMISSIBLE_INLINE double all(double value) { return value; }
};

template <std::size_t N>
struct VectorLanes {
    using V = Vector<double, N>;
    using Ints = Vector<int64_t, N>;
    using Unsigned = Vector<uint64_t, N>;
    using Shorts = Vector<int32_t, N>;
    static constexpr std::size_t count = N;
    template <class T, class From>
    static PERMISSIBLE_INLINE T copied(const From* from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static PERMISSIBLE_INLINE V load(const double* from) { return copied<V>(from); }
    static PERMISSIBLE_INLINE void store(double* to, V value) { std::memcpy(to, &value, sizeof value); }
    static PERMISSIBLE_INLINE void store(float* to, V value) {
#ifdef __AVX512F__
        if constexpr (N == 8) return _mm256_storeu_ps(to, _mm512_cvtpd_ps(value));
#endif
        const auto narrow = __builtin_convertvector(value, Vector<float, N>);
        std::memcpy(to, &narrow, sizeof narrow);
    }
    static PERMISSIBLE_INLINE V single(V value) {  // rounded to single precision
#ifdef __AVX512F__                                 // GCC 12 widens eight floats in two halves
        if constexpr (N == 8) return _mm512_cvtps_pd(_mm512_cvtpd_ps(value));
#endif
        return __builtin_convertvector(__builtin_convertvector(value, Vector<float, N>), V);
    }
    static PERMISSIBLE_INLINE Ints flags(const uint8_t* from) {  // one load, one comparison
        uint64_t bytes = 0;
        std::memcpy(&bytes, from, N);
        Unsigned own{};
        for (std::size_t k = 0; k < N; ++k) own[k] = uint64_t{255} << (8 * k);
        return ((Unsigned{} + bytes) & own) != 0;
    }
    static PERMISSIBLE_INLINE Ints ints(const float* from) {
        return __builtin_convertvector(__builtin_convertvector(copied<Vector<float, N>>(from), Shorts), Ints);
    }
    static PERMISSIBLE_INLINE Ints ints(const int32_t* from) {
        return __builtin_convertvector(copied<Shorts>(from), Ints);
    }
    static PERMISSIBLE_INLINE V all(double value) { return value - V{}; }  // exact, also of -0.0
};
template <>
struct Lanes<V4> : VectorLanes<4> {};
template <>
struct Lanes<V8> : VectorLanes<8> {};

/// The same number in every row.
template <class V>
PERMISSIBLE_INLINE V all(double value) {
    return Lanes<V>::all(value);
}

/// Calls work(V{}, first row) for the rows of [0, count), a register at a time, and for the rest one by one.
template <class V, class Work>
PERMISSIBLE_INLINE void by_lanes(std::size_t count, Work&& work) {
    std::size_t i = 0;
    for (; i + Lanes<V>::count <= count; i += Lanes<V>::count) work(V{}, i);
    for (; i < count; ++i) work(double{}, i);
}

template <class V>
PERMISSIBLE_INLINE typename Lanes<V>::Ints below(V a, V b) {
    if constexpr (Lanes<V>::count == 1)
        return -static_cast<int64_t>(a < b);
    else
        return a < b;
}
template <class V>
PERMISSIBLE_INLINE typename Lanes<V>::Ints equal(V a, V b) {
    if constexpr (Lanes<V>::count == 1)
        return -static_cast<int64_t>(a == b);
    else
        return a == b;
}
template <class Flags, class V>
PERMISSIBLE_INLINE V select(Flags flags, V a, V b) {
    return flags ? a : b;
}
/// The integers of flagged rows, 0 of the others; and a count of rows plus the flagged ones. Selected rather than by
/// `&`, so that flags may stay bits of a mask register.
template <class Ints>
PERMISSIBLE_INLINE Ints kept(Ints flags, Ints value) {
    return flags ? value : Ints{};
}
template <class Ints>
PERMISSIBLE_INLINE Ints counted(Ints count, Ints flags) {
    return flags ? count + 1 : count;
}
template <class V>
PERMISSIBLE_INLINE V smaller(V a, V b) {
    return b < a ? b : a;
}
template <class V>
PERMISSIBLE_INLINE V larger(V a, V b) {
    return a < b ? b : a;
}
template <class V>
PERMISSIBLE_INLINE V magnitude(V x) {
    return x < V{} ? -x : x;
}
template <class V>
PERMISSIBLE_INLINE V root(V x) {
    if constexpr (Lanes<V>::count == 1) {
        return std::sqrt(x);
    } else {
        V out;
        for (std::size_t k = 0; k < Lanes<V>::count; ++k) out[k] = std::sqrt(x[k]);
        return out;
    }
}

/// The nearest integer of each value, |value| < 2^51.
template <class V>
PERMISSIBLE_INLINE typename Lanes<V>::Ints rounded(V value) {
    return __builtin_bit_cast(typename Lanes<V>::Ints, value + kMagic) - kMagicBits;
}
/// The same with the bits of kMagic left in: a sum of n of them is n * kMagicBits too large, modulo 2^64.
template <class V>
PERMISSIBLE_INLINE typename Lanes<V>::Ints lifted(V value) {
    return __builtin_bit_cast(typename Lanes<V>::Ints, value + kMagic);
}
/// A sum modulo 2^64, which is what sums of lifted integers are.
template <class Ints>
PERMISSIBLE_INLINE Ints wrapped(Ints a, Ints b) {
    using Unsigned = std::conditional_t<sizeof(Ints) == 8, uint64_t, Vector<uint64_t, sizeof(Ints) / 8>>;
    return __builtin_bit_cast(Ints, __builtin_bit_cast(Unsigned, a) + __builtin_bit_cast(Unsigned, b));
}

/// Over the rows of a register, by halves: the sum modulo 2^64, the least and the largest number.
template <class T, class Pick>
PERMISSIBLE_INLINE auto folded(T value, Pick pick) {
    if constexpr (sizeof(T) == 8)
        return value;
    else if constexpr (sizeof(T) == 16)
        return pick(value[0], value[1]);
    else if constexpr (sizeof(T) == 32)
        return folded(pick(__builtin_shufflevector(value, value, 0, 1), __builtin_shufflevector(value, value, 2, 3)),
                      pick);
    else
        return folded(
            pick(__builtin_shufflevector(value, value, 0, 1, 2, 3), __builtin_shufflevector(value, value, 4, 5, 6, 7)),
            pick);
}
template <class Ints>
PERMISSIBLE_INLINE int64_t total(Ints value) {
    return folded(value, [](auto a, auto b) __attribute__((always_inline)) { return wrapped(a, b); });
}
template <class T>
PERMISSIBLE_INLINE auto least(T value) {
    return folded(value, [](auto a, auto b) __attribute__((always_inline)) { return b < a ? b : a; });
}
template <class T>
PERMISSIBLE_INLINE auto greatest(T value) {
    return folded(value, [](auto a, auto b) __attribute__((always_inline)) { return a < b ? b : a; });
}

/// The natural logarithm of positive normal numbers.
template <class V>
PERMISSIBLE_INLINE V fast_log(V x) {
    return logarithm<V, typename Lanes<V>::Unsigned>(x);
}

}  // namespace permissible
