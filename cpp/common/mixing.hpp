// splitmix64 (Steele, Lea, Flood 2014): a hash of integers whose results pass tests of randomness.
#pragma once

#include <cstdint>

namespace permissible {

inline constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio

/// Every bit of the result depends on every bit of h.
inline uint64_t finalise(uint64_t h) {
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}

inline uint64_t mixed(uint64_t x) { return finalise(x + kGolden); }

}  // namespace permissible
