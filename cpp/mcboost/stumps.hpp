// A stump of the logistic loss on many rows, fast: the split is found on packed integer histograms (gradient and
// curvature of a row in one 64-bit word, 18 bits each, eight columns at a time), its two values from the rows
// themselves at full precision.
#pragma once

#include <vector>

#include "mcboost/state.hpp"
#include "mcboost/trees.hpp"

namespace permissible::mcboost {

/// Rows from which packing pays; below, every term keeps its 52 bits (trees.cpp).
inline constexpr std::size_t kPackedRows = 16384;

/// Whether the fast way can grow what is asked for.
bool packed_stump_applies(const Codes& codes, const Growth& growth, bool shared_rows, std::size_t rows);

/// Grows a stump on state.gradient (one coordinate, or all of them) and state.curvature; `left` gets 1 for the rows
/// that go left, `edge` the share of the weight that the stump agrees with.
Tree grow_packed_stump(const Codes& codes, const State& state, const Growth& growth, int outputs,
                       std::vector<uint8_t>& left, double& edge);

}  // namespace permissible::mcboost
