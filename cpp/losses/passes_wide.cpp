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

#ifdef PERMISSIBLE_AVX512
#define PERMISSIBLE_EIGHT_LANES
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 on its own intrinsics
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,popcnt")
#endif

#include "losses/margin.hpp"
#include "losses/pass_loops.hpp"

namespace permissible::rules {

#ifdef PERMISSIBLE_EIGHT_LANES

namespace {

template <WeightMode Mode, class Loss>
void measure_eight(const Loss& loss, const Examples& examples, const uint8_t* mask, const Factors& factors,
                   const Grids& grids, std::size_t begin, std::size_t end, MeasureSums& sums) {
    measure_rows<V8, Mode>(loss, examples, mask, factors, grids, begin, end, sums);
}

template <WeightMode Mode, class Loss>
void apply_eight(const Loss& loss, const Examples& examples, const uint8_t* mask, const Factors& factors,
                 const Grids& grids, std::size_t begin, std::size_t end, ApplySums& sums) {
    apply_rows<V8, Mode>(loss, examples, mask, factors, grids, begin, end, sums);
}

template <WeightMode Mode, bool Pair, class Loss>
void pack_eight(const Loss& loss, const Examples& examples, double weight_grid, double curvature_grid,
                std::size_t begin, std::size_t end, int64_t* out) {
    pack_rows<V8, Mode, Pair>(loss, examples, weight_grid, curvature_grid, begin, end, out);
}

}  // namespace

template <class Loss>
Kernels<Loss> wide_kernels() {
    constexpr auto none = WeightMode::none, whole = WeightMode::whole, real = WeightMode::real;
    return {{measure_eight<none, Loss>, measure_eight<whole, Loss>, measure_eight<real, Loss>},
            {apply_eight<none, Loss>, apply_eight<whole, Loss>, apply_eight<real, Loss>},
            {{pack_eight<none, false, Loss>, pack_eight<none, true, Loss>},
             {pack_eight<real, false, Loss>, pack_eight<real, true, Loss>}}};
}

#else

template <class Loss>
Kernels<Loss> wide_kernels() {
    return {};
}

#endif

template Kernels<Logistic> wide_kernels<Logistic>();
template Kernels<Matsushita> wide_kernels<Matsushita>();
template Kernels<Squared> wide_kernels<Squared>();
template Kernels<LeastSquares> wide_kernels<LeastSquares>();
template Kernels<Exponential> wide_kernels<Exponential>();
template Kernels<Tabulated> wide_kernels<Tabulated>();

}  // namespace permissible::rules
