// Bindings of the boundary area: exact dtypes, sizes checked, the GIL released, no copies.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "boundary/coordinate.hpp"
#include "boundary/dense.hpp"
#include "boundary/kernel/rows.hpp"
#include "boundary/kernel/smo.hpp"
#include "common/arrays.hpp"
#include "common/parallel.hpp"

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

nb::dict as_dict(const Solution& s) {
    nb::dict out;
    out["coef"] = array_of(s.w);
    out["intercept"] = s.b;
    out["dual"] = array_of(s.t);
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
        DenseSolver<T> solver(problem, x.data(), positive.data(), weight.data(), n, d, allowed_threads(threads),
                              interrupt);
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

template <typename Store>
nb::dict descend(const Store& store, const In1<int8_t>& positive, const In1<double>& weight, const Problem& problem,
                 const In1<double>& dual, double intercept, double tol, int max_iter, uint64_t seed) {
    if (positive.shape(0) != store.n || weight.shape(0) != store.n || dual.shape(0) != store.n)
        throw std::invalid_argument("positive, weight and dual must have one value a row");
    std::vector<double> start(dual.data(), dual.data() + store.n);
    Solution solution;
    {
        nb::gil_scoped_release free;
        Interrupt interrupt;
        CoordinateSolver<Store> solver(problem, store, positive.data(), weight.data(), seed, interrupt);
        solution = solver.solve(std::move(start), intercept, tol, max_iter);
    }
    return as_dict(solution);
}

template <typename T>
nb::dict descend_dense(In2<T> x, In1<int8_t> positive, In1<double> weight, In2<double> hinge, In2<double> width,
                       double strength, bool fit_intercept, bool penalize_intercept, In1<double> dual, double intercept,
                       double tol, int max_iter, uint64_t seed) {
    const DenseStore<T> store{x.data(), x.shape(0), x.shape(1)};
    return descend(store, positive, weight, problem_of(hinge, width, strength, fit_intercept, penalize_intercept), dual,
                   intercept, tol, max_iter, seed);
}

template <typename T>
nb::dict descend_sparse(In1<T> values, In1<int32_t> columns, In1<int64_t> starts, std::size_t n_columns,
                        In1<int8_t> positive, In1<double> weight, In2<double> hinge, In2<double> width, double strength,
                        bool fit_intercept, bool penalize_intercept, In1<double> dual, double intercept, double tol,
                        int max_iter, uint64_t seed) {
    if (starts.shape(0) == 0 || values.shape(0) != columns.shape(0)) throw std::invalid_argument("not a CSR matrix");
    const std::size_t n = starts.shape(0) - 1;
    if (starts.data()[0] != 0 || static_cast<std::size_t>(starts.data()[n]) > values.shape(0))
        throw std::invalid_argument("not a CSR matrix");
    for (std::size_t k = 0; k < columns.shape(0); ++k)
        if (columns.data()[k] < 0 || static_cast<std::size_t>(columns.data()[k]) >= n_columns)
            throw std::invalid_argument("column out of range");
    const SparseStore<T> store{values.data(), columns.data(), starts.data(), n, n_columns};
    return descend(store, positive, weight, problem_of(hinge, width, strength, fit_intercept, penalize_intercept), dual,
                   intercept, tol, max_iter, seed);
}

template <typename T>
void bind_descent(nb::module_& area) {
    area.def("descend_dense", &descend_dense<T>, "x"_a.noconvert(), "positive"_a.noconvert(), "weight"_a.noconvert(),
             "hinge"_a.noconvert(), "width"_a.noconvert(), "strength"_a, "fit_intercept"_a, "penalize_intercept"_a,
             "dual"_a.noconvert(), "intercept"_a, "tol"_a, "max_iter"_a, "seed"_a);
    area.def("descend_sparse", &descend_sparse<T>, "values"_a.noconvert(), "columns"_a.noconvert(),
             "starts"_a.noconvert(), "n_columns"_a, "positive"_a.noconvert(), "weight"_a.noconvert(),
             "hinge"_a.noconvert(), "width"_a.noconvert(), "strength"_a, "fit_intercept"_a, "penalize_intercept"_a,
             "dual"_a.noconvert(), "intercept"_a, "tol"_a, "max_iter"_a, "seed"_a);
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
nb::dict solve_rows(Rows& rows, std::size_t n, const Problem& problem, const In1<int8_t>& positive,
                    const In1<double>& weight, const In1<double>& dual, double tol, int64_t max_updates) {
    if (positive.shape(0) != n || weight.shape(0) != n || dual.shape(0) != n)
        throw std::invalid_argument("positive, weight and dual must have one value a row");
    std::vector<double> start(dual.data(), dual.data() + n);
    KernelSolution solution;
    {
        nb::gil_scoped_release free;
        Interrupt interrupt;
        PairSolver<T, Rows> solver(problem, rows, positive.data(), weight.data(), n, interrupt);
        solution = solver.solve(std::move(start), tol, max_updates);
    }
    nb::dict out;
    out["dual"] = array_of(solution.t);
    out["score"] = array_of(solution.f);
    out["intercept"] = solution.b;
    out["square"] = solution.square;
    out["primal_value"] = solution.primal;
    out["dual_value"] = solution.dual;
    out["updates"] = solution.updates;
    out["converged"] = solution.converged;
    return out;
}

KernelSpec spec_of(int kind, double gamma, double coef0, int degree, bool shifted) {
    if (kind < 0 || kind > 3) throw std::invalid_argument("unknown kernel");
    return {static_cast<KernelKind>(kind), gamma, coef0, degree, shifted ? 1.0 : 0.0};
}

nb::dict solve_kernel(In2<double> x, int kind, double gamma, double coef0, int degree, std::size_t cache_bytes,
                      bool single_precision, In1<int8_t> positive, In1<double> weight, In2<double> hinge,
                      In2<double> width, double strength, bool fit_intercept, bool penalize_intercept, In1<double> dual,
                      double tol, int64_t max_updates) {
    const Problem problem = problem_of(hinge, width, strength, fit_intercept, penalize_intercept);
    const KernelSpec spec = spec_of(kind, gamma, coef0, degree, fit_intercept && penalize_intercept);
    if (single_precision) {
        ComputedRows<float> rows(spec, x.data(), x.shape(0), x.shape(1), cache_bytes);
        return solve_rows<float>(rows, x.shape(0), problem, positive, weight, dual, tol, max_updates);
    }
    ComputedRows<double> rows(spec, x.data(), x.shape(0), x.shape(1), cache_bytes);
    return solve_rows<double>(rows, x.shape(0), problem, positive, weight, dual, tol, max_updates);
}

nb::dict solve_gram(In2<double> gram, In1<int8_t> positive, In1<double> weight, In2<double> hinge, In2<double> width,
                    double strength, bool fit_intercept, bool penalize_intercept, In1<double> dual, double tol,
                    int64_t max_updates) {
    if (gram.shape(0) != gram.shape(1)) throw std::invalid_argument("the kernel matrix must be square");
    const Problem problem = problem_of(hinge, width, strength, fit_intercept, penalize_intercept);
    GivenRows rows{gram.data(), gram.shape(0), fit_intercept && penalize_intercept ? 1.0 : 0.0, {}, {}};
    return solve_rows<double>(rows, gram.shape(0), problem, positive, weight, dual, tol, max_updates);
}

/// sum_j coef_j k(x_j, point) for every point.
nb::object score_kernel(In2<double> support, int kind, double gamma, double coef0, int degree, In1<double> coef,
                        In2<double> points) {
    const std::size_t m = support.shape(0), d = support.shape(1), n = points.shape(0);
    if (coef.shape(0) != m || points.shape(1) != d)
        throw std::invalid_argument("support, coef and points do not fit together");
    auto out = std::make_unique<double[]>(n);
    {
        nb::gil_scoped_release free;
        Interrupt interrupt;
        const KernelRows<double> rows(spec_of(kind, gamma, coef0, degree, false), support.data(), m, d);
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

double intercept_of(In1<double> score, In1<int8_t> positive, In1<double> weight, In2<double> hinge, In2<double> width,
                    double near) {
    const std::size_t n = score.shape(0);
    if (positive.shape(0) != n || weight.shape(0) != n)
        throw std::invalid_argument("score, positive and weight must have one value a row");
    const Problem problem = problem_of(hinge, width, 1.0, true, false);
    nb::gil_scoped_release free;
    return best_intercept(problem, score.data(), positive.data(), weight.data(), n, near);
}

void bind_kernel(nb::module_& area) {
    area.def("best_intercept", &intercept_of, "score"_a.noconvert(), "positive"_a.noconvert(), "weight"_a.noconvert(),
             "hinge"_a.noconvert(), "width"_a.noconvert(), "near"_a);
    area.def("solve_kernel", &solve_kernel, "x"_a.noconvert(), "kind"_a, "gamma"_a, "coef0"_a, "degree"_a,
             "cache_bytes"_a, "single_precision"_a, "positive"_a.noconvert(), "weight"_a.noconvert(),
             "hinge"_a.noconvert(), "width"_a.noconvert(), "strength"_a, "fit_intercept"_a, "penalize_intercept"_a,
             "dual"_a.noconvert(), "tol"_a, "max_updates"_a);
    area.def("solve_gram", &solve_gram, "gram"_a.noconvert(), "positive"_a.noconvert(), "weight"_a.noconvert(),
             "hinge"_a.noconvert(), "width"_a.noconvert(), "strength"_a, "fit_intercept"_a, "penalize_intercept"_a,
             "dual"_a.noconvert(), "tol"_a, "max_updates"_a);
    area.def("score_kernel", &score_kernel, "support"_a.noconvert(), "kind"_a, "gamma"_a, "coef0"_a, "degree"_a,
             "coef"_a.noconvert(), "points"_a.noconvert());
}

}  // namespace

void bind_boundary(nb::module_& area) {
    bind_dense<double>(area);
    bind_dense<float>(area);
    bind_descent<double>(area);
    bind_descent<float>(area);
    bind_kernel(area);
}
