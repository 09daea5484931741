// The compiled core as Python sees it: one module, one submodule per area. An area binds itself in its own
// bind/<area>.cpp.
#include <nanobind/nanobind.h>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include "common/parallel.hpp"

namespace nb = nanobind;

void bind_binning(nb::module_& area);   // values to uint8 codes
void bind_boosting(nb::module_& area);  // ULS: histogram, search, leverage, the compiled loop, prediction
void bind_trees(nb::module_& area);     // UDT growth and prediction
void bind_boosted(nb::module_& area);   // boosted trees
void bind_boundary(nb::module_& area);  // linear and kernel solvers of problem (18) of [K]
void bind_mcboost(nb::module_& area);   // multiclass boosting passes
void bind_sums(nb::module_& area);      // exact sums over rows in parts

NB_MODULE(_core, module) {
    module.doc() = "The compiled core of permissible. Readable NumPy twins: permissible.kernels.reference.";
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, permissible::after_fork_in_child);
#endif
    auto area = module.def_submodule("binning");
    bind_binning(area);
    area = module.def_submodule("boosting");
    bind_boosting(area);
    area = module.def_submodule("trees");
    bind_trees(area);
    area = module.def_submodule("boosted");
    bind_boosted(area);
    area = module.def_submodule("boundary");
    bind_boundary(area);
    area = module.def_submodule("mcboost");
    bind_mcboost(area);
    area = module.def_submodule("sums");
    bind_sums(area);
}
