// What the two binding files of the trees area share.
#pragma once

#include <nanobind/nanobind.h>

#include "losses/impurity.hpp"

namespace permissible::trees {

/// phi of the user: probabilities in, (phi - a) / b out, one call for all the cuts of a node.
UserPhi user_phi(nanobind::object function);

void define_parts(nanobind::module_& area);

}  // namespace permissible::trees
