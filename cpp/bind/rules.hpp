// What both binding files of the area need: rules and layouts between NumPy and the kernels.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <vector>

#include "common/arrays.hpp"
#include "rules/rule.hpp"
#include "rules/search/search.hpp"

namespace permissible::rules {

/// A rule: a sequence of literals, each with its `column` and its `membership()`, which of the 256 codes it covers.
inline RuleMask rule_of(const nb::handle& literals, std::size_t n_columns) {
    RuleMask rule;
    for (const nb::handle literal : literals) {
        const int column = nb::cast<int>(literal.attr("column"));
        if (column < 0 || static_cast<std::size_t>(column) >= n_columns) {
            throw std::invalid_argument("a literal's column is out of range");
        }
        const auto members = nb::cast<In1<bool>>(literal.attr("membership")());
        if (members.shape(0) != 256) throw std::invalid_argument("a literal must say of 256 codes what it covers");
        rule.push_back(LiteralMask::from_members(column, reinterpret_cast<const uint8_t*>(members.data())));
    }
    return rule;
}

inline std::vector<ColumnLayout> layouts_of(const In2<int32_t>& layout) {
    const std::size_t width = layout.shape(1);
    if (width != 3 && width != 5) throw std::invalid_argument("`layout` must have 3 columns, or 5 with keys");
    std::vector<ColumnLayout> found(layout.shape(0));
    for (std::size_t j = 0; j < found.size(); ++j) {
        const int32_t* row = layout.data() + width * j;
        if (row[1] < 0 || row[1] > 255) throw std::invalid_argument("a column has 0 to 255 bins");
        found[j] = {row[0] != 0, row[1], row[2] != 0};
        const auto half = [row](std::size_t k) { return static_cast<uint64_t>(static_cast<uint32_t>(row[k])); };
        if (width == 5) found[j].key = half(3) | half(4) << 32;
    }
    return found;
}

/// Binds the kernels that keep no rows (rule_kernels.cpp).
void bind_kernels(nb::module_& area);

}  // namespace permissible::rules
