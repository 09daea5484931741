// Threads: blocks of rows in a fixed partition, results merged by integer sums, so the count of threads never shows.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstddef>

namespace permissible {

/// Rows per block everywhere: in memory, on disk and on a cluster.
inline constexpr std::size_t kBlockRows = 65536;
/// Below this many cells (rows x columns) a second thread costs more than it brings.
inline constexpr std::size_t kSerialCells = 200000;

inline int resolve_threads(int requested, std::size_t cells) {
    if (requested <= 1 || cells < kSerialCells) return 1;
    return requested;
}

}  // namespace permissible

// AVX2 where the machine has it, the baseline elsewhere, chosen once at load time. Put it on block kernels
// (plain functions called from inside a parallel region), never on a function that opens one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PERMISSIBLE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PERMISSIBLE_CLONES
#endif
