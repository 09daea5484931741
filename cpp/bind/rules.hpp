// What both binding files of the area need: rules, layouts and literals between NumPy and the kernels.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <vector>

#include "common/arrays.hpp"
#include "rules/rule.hpp"
#include "rules/search.hpp"

namespace permissible::rules {

using Columns = In1<int32_t>;
using Members = In2<uint8_t>;
using Literals = nb::list;

inline RuleMask rule_of(const Columns& columns, const Members& members, std::size_t n_columns) {
    if (members.shape(0) != columns.shape(0) || (members.shape(0) > 0 && members.shape(1) != 256)) {
        throw std::invalid_argument("`members` must have one row of 256 per literal");
    }
    RuleMask rule;
    for (std::size_t i = 0; i < columns.shape(0); ++i) {
        const int column = columns.data()[i];
        if (column < 0 || static_cast<std::size_t>(column) >= n_columns) {
            throw std::invalid_argument("a literal's column is out of range");
        }
        rule.push_back(LiteralMask::from_members(column, members.data() + 256 * i));
    }
    return rule;
}

inline std::vector<ColumnLayout> layouts_of(const In2<int32_t>& layout) {
    if (layout.shape(1) != 3) throw std::invalid_argument("`layout` must have 3 columns");
    std::vector<ColumnLayout> found(layout.shape(0));
    for (std::size_t j = 0; j < found.size(); ++j) {
        const int32_t* row = layout.data() + 3 * j;
        if (row[1] < 0 || row[1] > 255) throw std::invalid_argument("a column has 0 to 255 bins");
        found[j] = {row[0] != 0, row[1], row[2] != 0};
    }
    return found;
}

inline nb::tuple literal_tuple(const Candidate& literal) {
    nb::object members = nb::none();
    if (literal.test == Test::in || literal.test == Test::not_in) {
        members = nb::bytes(reinterpret_cast<const char*>(literal.members.data()), 256);
    }
    return nb::make_tuple(literal.column, static_cast<int>(literal.test), literal.code, literal.missing, members);
}

/// Binds the kernels that keep no rows (bind_kernels.cpp).
void bind_kernels(nb::module_& area);

}  // namespace permissible::rules
