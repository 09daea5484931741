// Shared by the bindings of this area: checks, signals, arrays returned to Python.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "common/arrays.hpp"
#include "common/interrupt.hpp"
#include "mcboost/state.hpp"
#include "mcboost/trees.hpp"

namespace permissible::mcboost {

inline void require_bins(const In1<int32_t>& bins, std::size_t columns) {
    require(bins.shape(0) == columns, "bins must have one value per column");
    for (std::size_t j = 0; j < columns; ++j)
        require(bins.data()[j] >= 1 && bins.data()[j] <= 255, "bins must lie in 1..255");
}

inline Codes codes_of(const In3<uint8_t>& blocks, const In1<uint8_t>& categorical, const In1<int32_t>& bins) {
    const auto columns = static_cast<int>(categorical.shape(0));
    require(blocks.shape(2) == 8 && blocks.shape(0) * 8 >= categorical.shape(0), "blocks must be (n_blocks, n, 8)");
    require_bins(bins, categorical.shape(0));
    return {blocks.data(), blocks.shape(1), columns, categorical.data(), bins.data()};
}

/// Tables of cells are as large as `bins` says: a code beyond them must not reach a kernel.
inline void require_within_bins(const Codes& codes) {
    require(codes_fit(codes, codes.categorical), "a code is beyond the bins of its column");
}

/// Null, or a factor for each row: 0 excludes it from the fit.
inline const double* share_of(const State& state, const nb::object& share) {
    if (share.is_none()) return nullptr;
    auto array = nb::cast<In1<double>>(share);
    require(array.shape(0) == state.rows(), "share must have one value per row");
    return array.data();
}

void bind_affine(nb::module_& area, nb::class_<State>& state);  // affine terms
void bind_trees(nb::module_& area, nb::class_<State>& state);   // rounds of trees and rules
void bind_parts(nb::class_<State>& state);                      // what a part of the rows answers
void bind_choices(nb::module_& area);                           // how a coordinator chooses from answers alone

}  // namespace permissible::mcboost
