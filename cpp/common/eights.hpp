// Eight rows at a time, or one: the same formulas over both, by the compiler's vectors. The law: only IEEE operations
// that round alike in a vector and alone, so a row gets the same bits in the body of a loop and in its tail.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace permissible::mcboost {

#pragma GCC diagnostic ignored "-Wpsabi"  // every function here is inlined: no vector crosses a call
typedef double V8 __attribute__((vector_size(64)));
typedef int64_t I8 __attribute__((vector_size(64)));

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

/// Types and loads of the rows that V holds. A mask chooses by `mask ? a : b`.
template <class V>
struct Rows;

template <>
struct Rows<double> {
    using Ints = int64_t;
    static constexpr std::size_t count = 1;
    static PERMISSIBLE_INLINE int64_t ints(const int32_t* from) { return *from; }
    static PERMISSIBLE_INLINE bool flags(const uint8_t* from) { return *from != 0; }
    static PERMISSIBLE_INLINE double load(const double* from) { return *from; }
    static PERMISSIBLE_INLINE void store(double* to, double value) { *to = value; }
    static PERMISSIBLE_INLINE int64_t largest(int64_t value) { return value; }
    static PERMISSIBLE_INLINE int64_t sum(int64_t value) { return value; }
};

template <>
struct Rows<V8> {
    using Ints = I8;
    static constexpr std::size_t count = 8;
    static PERMISSIBLE_INLINE I8 ints(const int32_t* from) {
        typedef int32_t S8 __attribute__((vector_size(32)));
        S8 eight;
        std::memcpy(&eight, from, sizeof eight);
        return __builtin_convertvector(eight, I8);
    }
    static PERMISSIBLE_INLINE I8 flags(const uint8_t* from) {  // one load, one comparison
        uint64_t bytes;
        std::memcpy(&bytes, from, sizeof bytes);
        typedef uint64_t U8 __attribute__((vector_size(64)));
        constexpr uint64_t kByte = 255;
        const U8 own{kByte, kByte << 8, kByte << 16, kByte << 24, kByte << 32, kByte << 40, kByte << 48, kByte << 56};
        return ((U8{} + bytes) & own) != 0;
    }
    static PERMISSIBLE_INLINE V8 load(const double* from) {
        V8 eight;
        std::memcpy(&eight, from, sizeof eight);
        return eight;
    }
    static PERMISSIBLE_INLINE void store(double* to, V8 value) { std::memcpy(to, &value, sizeof value); }
    static PERMISSIBLE_INLINE int64_t largest(I8 value) {
        int64_t top = value[0];
        for (int k = 1; k < 8; ++k) top = value[k] > top ? value[k] : top;
        return top;
    }
    static PERMISSIBLE_INLINE int64_t sum(I8 value) {
        int64_t total = 0;
        for (int k = 0; k < 8; ++k) total += value[k];
        return total;
    }
};

/// The same number in every row.
template <class V>
PERMISSIBLE_INLINE V all(double value) {
    return V{} + value;
}

/// Calls `work` for the rows of [0, count), eight at a time and the rest alone: work(V{}, first row).
template <class Work>
PERMISSIBLE_INLINE void by_eights(std::size_t count, Work&& work) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) work(V8{}, i);
    for (; i < count; ++i) work(double{}, i);
}

}  // namespace permissible::mcboost
