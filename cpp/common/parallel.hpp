// Threads: blocks of rows in a fixed partition, results merged by integer sums, so results do not depend on the number
// of threads.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <atomic>
#include <cstddef>

namespace permissible {

/// Rows per block everywhere: in memory, on disk and on a cluster.
inline constexpr std::size_t kBlockRows = 65536;
/// Below this many cells (rows x columns) a second thread costs more than it saves.
inline constexpr std::size_t kSerialCells = 200000;

/// Whether this process has opened a region of several threads, and whether it was forked from one that had.
inline std::atomic<bool> opened_region{false}, forked_from_threads{false};

/// After a fork GNU's runtime still expects the parent's threads, which do not exist in the child, so a parallel region
/// would hang. The module registers this with pthread_atfork.
inline void after_fork_in_child() {
    if (opened_region.load()) forked_from_threads.store(true);
}

/// The number of threads to use of those requested: one in a process forked from a parent that had used several.
inline int allowed_threads(int requested) {
    if (requested <= 1 || forked_from_threads.load(std::memory_order_relaxed)) return 1;
    opened_region.store(true, std::memory_order_relaxed);
    return requested;
}

inline int resolve_threads(int requested, std::size_t cells) {
    return requested <= 1 || cells < kSerialCells ? 1 : allowed_threads(requested);
}

}  // namespace permissible

// AVX2 if the machine has it, else the baseline, chosen once at load time. Put it on block kernels
// (plain functions called from inside a parallel region), never on a function that opens one. A program that is
// compiled with PERMISSIBLE_ONE_VERSION has the version of its own flags alone: so each of them can be tested.
#if !defined(PERMISSIBLE_ONE_VERSION) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PERMISSIBLE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PERMISSIBLE_CLONES
#endif

// The same with AVX-512 where the machine has it, for long chains of arithmetic (a third less time). The file must be
// among those that CMakeLists.txt compiles for vectors of 512 bits.
#if !defined(PERMISSIBLE_ONE_VERSION) && defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && \
    !defined(PERMISSIBLE_NO_AVX512) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&        \
    !defined(__SANITIZE_THREAD__)
#define PERMISSIBLE_WIDE_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define PERMISSIBLE_WIDE_CLONES PERMISSIBLE_CLONES
#endif
