// Bindings of the boundary area: exact dtypes, sizes checked, the GIL released, no copies.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "boundary/dense.hpp"
#include "common/arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace permissible;
using namespace permissible::boundary;

namespace {

/// Hinges and widths of both classes, each 2 x K (row 0 negative, row 1 positive).
Problem problem_of(const In2<double>& hinge, const In2<double>& width, double strength, bool fit_intercept,
                   bool penalize_intercept) {
    if (hinge.shape(0) != 2 || width.shape(0) != 2 || hinge.shape(1) != width.shape(1) || hinge.shape(1) == 0)
        throw std::invalid_argument("hinge and width must both be 2 x K");
    Problem problem;
    for (int side = 0; side < 2; ++side) {
        problem.side[side].count = static_cast<int>(hinge.shape(1));
        problem.side[side].hinge = hinge.data() + side * hinge.shape(1);
        problem.side[side].width = width.data() + side * width.shape(1);
    }
    problem.strength = strength;
    problem.fit_intercept = fit_intercept;
    problem.penalize_intercept = penalize_intercept;
    return problem;
}

nb::object vector_to_numpy(const std::vector<double>& values) {
    auto data = std::make_unique<double[]>(values.size());
    std::copy(values.begin(), values.end(), data.get());
    return nb::cast(to_numpy<double>(std::move(data), {values.size()}));
}

nb::dict as_dict(const Solution& s) {
    nb::dict out;
    out["coef"] = vector_to_numpy(s.w);
    out["intercept"] = s.b;
    out["dual"] = vector_to_numpy(s.t);
    out["primal_value"] = s.primal;
    out["dual_value"] = s.dual;
    out["iterations"] = s.steps;
    out["passes"] = s.passes;
    out["converged"] = s.converged;
    return out;
}

template <typename T>
nb::dict solve_dense(In2<T> x, In1<int8_t> positive, In1<double> weight, In2<double> hinge, In2<double> width,
                     double strength, bool fit_intercept, bool penalize_intercept, In1<double> coef, double intercept,
                     bool warm, double tol, int max_iter, int threads) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    if (positive.shape(0) != n || weight.shape(0) != n || coef.shape(0) != d)
        throw std::invalid_argument("positive and weight must have one value a row, coef one a column");
    const Problem problem = problem_of(hinge, width, strength, fit_intercept, penalize_intercept);
    std::vector<double> start(coef.data(), coef.data() + d);
    Solution solution;
    {
        nb::gil_scoped_release free;
        Interrupt interrupt;
        DenseSolver<T> solver(problem, x.data(), positive.data(), weight.data(), n, d, threads, interrupt);
        solution = solver.solve(std::move(start), intercept, warm, tol, max_iter);
    }
    return as_dict(solution);
}

template <typename T>
void bind_dense(nb::module_& area) {
    area.def("solve_dense", &solve_dense<T>, "x"_a.noconvert(), "positive"_a.noconvert(), "weight"_a.noconvert(),
             "hinge"_a.noconvert(), "width"_a.noconvert(), "strength"_a, "fit_intercept"_a, "penalize_intercept"_a,
             "coef"_a.noconvert(), "intercept"_a, "warm"_a, "tol"_a, "max_iter"_a, "threads"_a);
}

}  // namespace

void bind_boundary(nb::module_& area) {
    bind_dense<double>(area);
    bind_dense<float>(area);
}
