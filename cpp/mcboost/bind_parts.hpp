// The bindings of rows in parts: see bind_parts.cpp.
#pragma once

#include <nanobind/nanobind.h>

#include "mcboost/state.hpp"

namespace permissible::mcboost {

void bind_parts(nanobind::module_& area, nanobind::class_<State>& state);

}  // namespace permissible::mcboost
