// The kernels of passes.cpp with AVX-512, eight rows a register: the same operations, so the same bits; chosen at run
// time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "common/avx512.hpp"
#include "common/grids.hpp"
#include "common/parallel.hpp"

#ifdef PERMISSIBLE_AVX512
#define PERMISSIBLE_KERNEL
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,popcnt")
#endif

#include "losses/margin.hpp"
#include "losses/pass_loops.hpp"

namespace permissible::rules {

template <class Loss>
Kernels<Loss> wide_kernels() {
#ifdef PERMISSIBLE_AVX512
    return kernels_of<V8, Loss>();
#else
    return {};
#endif
}

template Kernels<Logistic> wide_kernels<Logistic>();
template Kernels<Matsushita> wide_kernels<Matsushita>();
template Kernels<Squared> wide_kernels<Squared>();
template Kernels<LeastSquares> wide_kernels<LeastSquares>();
template Kernels<Exponential> wide_kernels<Exponential>();
template Kernels<Tabulated> wide_kernels<Tabulated>();

}  // namespace permissible::rules
