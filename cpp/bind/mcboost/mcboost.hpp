// Shared by the bindings of this area: checks, signals, arrays returned to Python.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "common/arrays.hpp"
#include "common/interrupt.hpp"
#include "mcboost/state.hpp"

namespace permissible::mcboost {

/// Null, or a factor for each row: 0 excludes it from the fit.
inline const double* share_of(const State& state, const nb::object& share) {
    if (share.is_none()) return nullptr;
    auto array = nb::cast<In1<double>>(share);
    require(array.shape(0) == state.rows(), "share must have one value per row");
    return array.data();
}

inline auto limbs_of(std::initializer_list<const Accumulator*> sums) {
    std::vector<int64_t> all;
    for (const Accumulator* sum : sums) all.insert(all.end(), sum->limbs.begin(), sum->limbs.end());
    return array_of(all, {sums.size(), static_cast<size_t>(Accumulator::kLimbs + 1)});
}

void bind_affine(nb::module_& area, nb::class_<State>& state);  // affine terms
void bind_parts(nb::module_& area, nb::class_<State>& state);   // affine terms on parts of the rows
void bind_trees(nb::module_& area);                             // trees and rules

}  // namespace permissible::mcboost
