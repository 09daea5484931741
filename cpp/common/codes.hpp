// Whether coded rows keep to the number of codes of their columns. Kernels count codes in tables of that size and trust
// them, so a border where rows come in asks this first; it reads each code once, 64 at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace permissible {

/// Every code of column j is below counts[j] or 255 (missing). `blocks` is (n_blocks, n_rows, 8); where `any` is given,
/// a column j with any[j] may hold every code.
inline bool codes_fit(const uint8_t* blocks, std::size_t n_rows, std::span<const int32_t> counts,
                      const uint8_t* any = nullptr) {
    for (std::size_t first = 0; first < counts.size(); first += 8) {
        const uint8_t* at = blocks + first * n_rows;
        const std::size_t size = n_rows * 8, whole = size / 64 * 64;
        uint8_t most[64] = {};  // of code + 1: the missing one wraps around to 0
        for (std::size_t i = 0; i < whole; i += 64)
            for (std::size_t k = 0; k < 64; ++k) most[k] = std::max(most[k], static_cast<uint8_t>(at[i + k] + 1));
        for (std::size_t i = whole; i < size; ++i) most[i % 8] = std::max(most[i % 8], static_cast<uint8_t>(at[i] + 1));
        for (std::size_t lane = 0; lane < std::min<std::size_t>(8, counts.size() - first); ++lane) {
            if (any && any[first + lane]) continue;
            for (std::size_t k = lane; k < 64; k += 8)
                if (most[k] > counts[first + lane]) return false;
        }
    }
    return true;
}

}  // namespace permissible
