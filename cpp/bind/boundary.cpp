// Bindings of the boundary area: records with named fields, exact dtypes, sizes checked, the GIL released, no copies.
#include <nanobind/nanobind.h>

#include "boundary/coordinate.hpp"
#include "boundary/dense.hpp"
#include "boundary/kernel/rows.hpp"
#include "boundary/kernel/smo.hpp"
#include "boundary/structured.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace permissible;
using namespace permissible::boundary;

namespace {

/// (18) beside its features: class (0 or 1) and weight of each row, hinges and widths of both classes, each 2 x K (row
/// 0 negative, row 1 positive). The arrays are borrowed from Python.
struct RowsProblem {
    In1<int8_t> positive;
    In1<double> weight;
    Problem problem;

    RowsProblem(In1<int8_t> positive_, In1<double> weight_, In2<double> hinge, In2<double> width, double strength,
                bool fit_intercept, bool penalize_intercept)
        : positive(std::move(positive_)),
          weight(std::move(weight_)),
          hinge_(std::move(hinge)),
          width_(std::move(width)) {
        const std::size_t count = hinge_.shape(1);
        require(hinge_.shape(0) == 2 && width_.shape(0) == 2 && count == width_.shape(1) && count > 0,
                "hinge and width must both be 2 x K");
        for (int side = 0; side < 2; ++side)
            problem.side[side] = {static_cast<int>(count), hinge_.data() + side * count, width_.data() + side * count};
        problem.strength = strength;
        problem.fit_intercept = fit_intercept;
        problem.penalize_intercept = penalize_intercept;
    }
    void check(std::size_t rows, std::size_t values) const {
        require(positive.shape(0) == rows && weight.shape(0) == rows && values == rows,
                "positive, weight and the start must have one value per row");
    }

  private:
    In2<double> hinge_, width_;
};

/// Where a linear solver starts: from the coefficients if it is `warm` (Newton), or from the dual point (descent).
struct Start {
    In1<double> coef, dual;
    double intercept;
    bool warm, whole;
};

std::vector<double> copied(const In1<double>& values) { return {values.data(), values.data() + values.shape(0)}; }

template <typename T>
Solution solve_dense(In2<T> x, const RowsProblem& given, const Start& start, double tol, int max_iter, int threads) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    given.check(n, n);
    require(start.coef.shape(0) == d, "coef must have one value per column");
    nb::gil_scoped_release free;
    Interrupt interrupt;
    DenseSolver<T> solver(given.problem, x.data(), given.positive.data(), given.weight.data(), n, d,
                          allowed_threads(threads), interrupt);
    return solver.solve(copied(start.coef), start.intercept, start.warm, start.whole, tol, max_iter);
}

template <typename Store>
Solution descend(const Store& store, const RowsProblem& given, const Start& start, double tol, int max_iter,
                 uint64_t seed) {
    given.check(store.n, start.dual.shape(0));
    nb::gil_scoped_release free;
    Interrupt interrupt;
    CoordinateSolver<Store> solver(given.problem, store, given.positive.data(), given.weight.data(), seed, interrupt);
    return solver.solve(copied(start.dual), start.intercept, tol, max_iter);
}

template <typename T>
Solution descend_dense(In2<T> x, const RowsProblem& given, const Start& start, double tol, int max_iter,
                       uint64_t seed) {
    return descend(DenseStore<T>{x.data(), x.shape(0), x.shape(1)}, given, start, tol, max_iter, seed);
}

template <typename T>
Solution descend_sparse(In1<T> values, In1<int32_t> columns, In1<int64_t> starts, const RowsProblem& given,
                        const Start& start, double tol, int max_iter, uint64_t seed) {
    require(starts.shape(0) > 0 && values.shape(0) == columns.shape(0), "not a CSR matrix");
    const std::size_t n = starts.shape(0) - 1, n_columns = start.coef.shape(0);
    require(starts.data()[0] == 0 && static_cast<std::size_t>(starts.data()[n]) <= values.shape(0), "not a CSR matrix");
    for (std::size_t k = 0; k < columns.shape(0); ++k)
        require(columns.data()[k] >= 0 && static_cast<std::size_t>(columns.data()[k]) < n_columns,
                "column out of range");
    const SparseStore<T> store{values.data(), columns.data(), starts.data(), n, n_columns};
    return descend(store, given, start, tol, max_iter, seed);
}

/// The rows of a kernel that is computed: a cache of T for the search, double precision for the certificate.
template <typename T>
struct ComputedRows {
    KernelRows<T> search;
    KernelRows<double> full;
    RowCache<T> cache;
    ComputedRows(const KernelSpec& spec, const double* x, std::size_t n, std::size_t d, std::size_t bytes)
        : search(spec, x, n, d), full(spec, x, n, d), cache(n, bytes) {}
    const T* row(std::size_t i, std::size_t pinned) {
        return cache.get(i, pinned, [&](std::size_t r, T* out) { search.row(r, out); });
    }
    void add_four(const std::size_t* which, const double* coef, double* out) const { full.add_four(which, coef, out); }
    double diagonal(std::size_t i) const { return full.diagonal(i); }
};

/// The rows of a kernel matrix that the user has computed.
struct GivenRows {
    const double* matrix;
    std::size_t n;
    double shift;
    std::vector<double> first, second;
    int turn = 0;
    const double* row(std::size_t i, std::size_t) {
        if (shift == 0) return matrix + i * n;
        std::vector<double>& out = (turn ^= 1) ? first : second;
        out.resize(n);
        return exact(i, out.data());
    }
    void add_four(const std::size_t* which, const double* coef, double* out) {
        for (int p = 0; p < 4; ++p)
            if (coef[p] != 0) axpy(coef[p], row(which[p], n), out, n);
    }
    const double* exact(std::size_t i, double* buffer) const {
        if (shift == 0) return matrix + i * n;
        for (std::size_t j = 0; j < n; ++j) buffer[j] = matrix[i * n + j] + shift;
        return buffer;
    }
    double diagonal(std::size_t i) const { return matrix[i * n + i] + shift; }
};

template <typename T, typename Rows>
KernelSolution solve_rows(Rows& rows, std::size_t n, const RowsProblem& given, const In1<double>& dual, double tol,
                          int64_t max_updates) {
    given.check(n, dual.shape(0));
    nb::gil_scoped_release free;
    Interrupt interrupt;
    PairSolver<T, Rows> solver(given.problem, rows, given.positive.data(), given.weight.data(), n, interrupt);
    return solver.solve(copied(dual), tol, max_updates);
}

/// What is added to every kernel value: a penalised intercept is the function 1 in the space.
double shift_of(const Problem& problem) { return problem.fit_intercept && problem.penalize_intercept ? 1.0 : 0.0; }

KernelSolution solve_kernel(In2<double> x, KernelSpec kernel, const RowsProblem& given, In1<double> dual, double tol,
                            int64_t max_updates, std::size_t cache_bytes, bool single_precision) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    kernel.shift = shift_of(given.problem);
    if (single_precision) {
        ComputedRows<float> rows(kernel, x.data(), n, d, cache_bytes);
        return solve_rows<float>(rows, n, given, dual, tol, max_updates);
    }
    ComputedRows<double> rows(kernel, x.data(), n, d, cache_bytes);
    return solve_rows<double>(rows, n, given, dual, tol, max_updates);
}

KernelSolution solve_gram(In2<double> gram, const RowsProblem& given, In1<double> dual, double tol,
                          int64_t max_updates) {
    require(gram.shape(0) == gram.shape(1), "the kernel matrix must be square");
    GivenRows rows{gram.data(), gram.shape(0), shift_of(given.problem), {}, {}};
    return solve_rows<double>(rows, gram.shape(0), given, dual, tol, max_updates);
}

/// sum_j coef_j k(x_j, point) for every point.
nb::object score_kernel(In2<double> support, const KernelSpec& kernel, In1<double> coef, In2<double> points) {
    const std::size_t m = support.shape(0), d = support.shape(1), n = points.shape(0);
    require(coef.shape(0) == m && points.shape(1) == d, "support, coef and points do not fit together");
    auto out = std::make_unique<double[]>(n);
    {
        nb::gil_scoped_release free;
        Interrupt interrupt;
        const KernelRows<double> rows(kernel, support.data(), m, d);
        std::vector<double> row(m);
        for (std::size_t i = 0; i < n; ++i) {
            if ((i & 63) == 0) interrupt.poll();
            double square = 0;
            for (std::size_t j = 0; j < d; ++j) square += points.data()[i * d + j] * points.data()[i * d + j];
            rows.row(points.data() + i * d, square, row.data());
            out[i] = dot(row.data(), coef.data(), m);
        }
    }
    return nb::cast(to_numpy<double>(std::move(out), {n}));
}

double intercept_of(In1<double> score, const RowsProblem& given, double near) {
    const std::size_t n = score.shape(0);
    given.check(n, n);
    nb::gil_scoped_release free;
    return best_intercept(given.problem, score.data(), given.positive.data(), given.weight.data(), n, near);
}

void sweep(In2<double> x, In2<double> costs, In1<double> caps, double lambda, In1<int64_t> order, Out2<double> weights,
           Out2<double> dual) {
    const std::size_t n = x.shape(0), d = x.shape(1), classes = costs.shape(1);
    require(costs.shape(0) == n && caps.shape(0) == n && order.shape(0) == n && dual.shape(0) == n,
            "costs, caps, order and dual must have one row per row of x");
    require(
        dual.shape(1) == classes && weights.shape(0) == classes && weights.shape(1) == d && lambda > 0 && classes > 1,
        "weights must be classes x columns and dual rows x classes");
    require(std::all_of(order.data(), order.data() + n,
                        [&](int64_t i) { return i >= 0 && static_cast<std::size_t>(i) < n; }),
            "order must hold positions of rows");
    const StructuredRows rows{x.data(), costs.data(), caps.data(), n, d, classes, lambda};
    nb::gil_scoped_release unlocked;
    structured_sweep(rows, order.data(), weights.data(), dual.data());
}

void bind_records(nb::module_& area) {
    nb::class_<RowsProblem>(area, "Problem")
        .def(nb::init<In1<int8_t>, In1<double>, In2<double>, In2<double>, double, bool, bool>(),
             "positive"_a.noconvert(), "weight"_a.noconvert(), "hinge"_a.noconvert(), "width"_a.noconvert(),
             "strength"_a, "fit_intercept"_a = true, "penalize_intercept"_a = false);
    nb::class_<Start>(area, "Start")
        .def(nb::init<In1<double>, In1<double>, double, bool, bool>(), "coef"_a.noconvert(), "dual"_a.noconvert(),
             "intercept"_a = 0.0, "warm"_a = false, "whole"_a = false);
    nb::class_<KernelSpec>(area, "Kernel")
        .def(
            "__init__",
            [](KernelSpec* self, int kind, double gamma, double coef0, int degree) {
                require(kind >= 0 && kind <= 3, "unknown kernel");
                new (self) KernelSpec{static_cast<KernelKind>(kind), gamma, coef0, degree, 0.0};
            },
            "kind"_a, "gamma"_a, "coef0"_a, "degree"_a);
    nb::class_<Solution>(area, "Solution")
        .def_prop_ro("coef", [](const Solution& s) { return nb::cast(array_of(s.w)); })
        .def_ro("intercept", &Solution::b)
        .def_prop_ro("dual", [](const Solution& s) { return nb::cast(array_of(s.t)); })
        .def_ro("primal_value", &Solution::primal)
        .def_ro("dual_value", &Solution::dual)
        .def_ro("iterations", &Solution::steps)
        .def_ro("converged", &Solution::converged);
    nb::class_<KernelSolution>(area, "KernelSolution")
        .def_prop_ro("dual", [](const KernelSolution& s) { return nb::cast(array_of(s.t)); })
        .def_prop_ro("score", [](const KernelSolution& s) { return nb::cast(array_of(s.f)); })
        .def_ro("intercept", &KernelSolution::b)
        .def_ro("square", &KernelSolution::square)
        .def_ro("primal_value", &KernelSolution::primal)
        .def_ro("dual_value", &KernelSolution::dual)
        .def_ro("updates", &KernelSolution::updates);
}

template <typename T>
void bind_linear(nb::module_& area) {
    area.def("solve_dense", &solve_dense<T>, "x"_a.noconvert(), "problem"_a, "start"_a, "tol"_a, "max_iter"_a,
             "threads"_a);
    area.def("descend_dense", &descend_dense<T>, "x"_a.noconvert(), "problem"_a, "start"_a, "tol"_a, "max_iter"_a,
             "seed"_a);
    area.def("descend_sparse", &descend_sparse<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
             "starts"_a.noconvert(), "problem"_a, "start"_a, "tol"_a, "max_iter"_a, "seed"_a);
}

void bind_kernel(nb::module_& area) {
    area.def("best_intercept", &intercept_of, "score"_a.noconvert(), "problem"_a, "near"_a);
    area.def("solve_kernel", &solve_kernel, "x"_a.noconvert(), "kernel"_a, "problem"_a, "dual"_a.noconvert(), "tol"_a,
             "max_updates"_a, "cache_bytes"_a, "single_precision"_a);
    area.def("solve_gram", &solve_gram, "gram"_a.noconvert(), "problem"_a, "dual"_a.noconvert(), "tol"_a,
             "max_updates"_a);
    area.def("score_kernel", &score_kernel, "support"_a.noconvert(), "kernel"_a, "coef"_a.noconvert(),
             "points"_a.noconvert());
    area.def("structured_sweep", &sweep, "x"_a.noconvert(), "costs"_a.noconvert(), "caps"_a.noconvert(), "alpha"_a,
             "order"_a.noconvert(), "weights"_a.noconvert(), "dual"_a.noconvert());
}

}  // namespace

void bind_boundary(nb::module_& area) {
    bind_records(area);
    bind_linear<double>(area);
    bind_linear<float>(area);
    bind_kernel(area);
}
