// Whether this machine has the AVX-512 of 2017 and later servers (F, DQ, BW, VL), and functions written for it.
// PERMISSIBLE_AVX512=0 in the environment disables them, so that a test can compare results with and without;
// built with PERMISSIBLE_NO_AVX512 the core has none.
#pragma once

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(PERMISSIBLE_NO_AVX512)
#include <immintrin.h>
#define PERMISSIBLE_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,popcnt")))
#endif

namespace permissible {

inline bool has_avx512() {
#ifdef PERMISSIBLE_AVX512
    const char* asked = std::getenv("PERMISSIBLE_AVX512");
    static const bool found = (asked == nullptr || std::string_view(asked) != "0") &&
                              __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return found;
#else
    return false;
#endif
}

}  // namespace permissible
