// Bindings of the boosting area: exact dtypes, sizes checked, the GIL released, no copies.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_boosting([[maybe_unused]] nb::module_& area) {}
