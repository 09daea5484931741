// Bindings of affine terms: rounds on rows in one part; for rows in parts, the answers of a part and the coordinator's
// choices.
#include "mcboost/affine.hpp"

#include <nanobind/stl/vector.h>

#include "bind/mcboost/mcboost.hpp"

namespace permissible::mcboost {

namespace {

/// Standardised attributes of some rows (n, d), and the least and largest value of each over all rows.
struct AttributeColumns {
    In2<double> values;
    In1<double> low, high;

    /// The arguments of the kernels, for all rows of a state, or without rows for a coordinator.
    Attributes of(const State* state, const uint8_t* allowed, const double* share) const {
        require(!state || values.shape(0) == state->rows(), "values must have one row per training row");
        return {values.data(), static_cast<int>(low.shape(0)), low.data(), high.data(), allowed, share};
    }
};

/// A term and its step length.
struct AffineStep {
    Affine fit;
    LineSearch line{1.0, false, 0};
};

const uint8_t* allowed_of(const In1<uint8_t>& allowed, const AttributeColumns& x) {
    require(allowed.shape(0) == x.low.shape(0), "allowed must have one value per column");
    return allowed.data();
}

AffineStep step_affine(State& state, const Attributes& x, int coordinate, double rate, double l2) {
    coordinate < 0 ? state.derive_all() : state.derive(coordinate);
    AffineStep step{fit_affine(state, x, coordinate < 0 ? state.classes() - 1 : 1)};
    set_affine(state, x, step.fit, coordinate);
    const int classes = state.classes();
    const double penalty = l2 > 0 ? l2 * affine_square(step.fit, coordinate, classes) : 0.0;
    step.line = state.search_within(coordinate, affine_reach(step.fit, x, coordinate, classes), penalty);
    const double factor = rate * step.line.leverage;
    coordinate < 0 ? state.advance_all(factor) : state.advance(coordinate, factor);
    return step;
}

// One step along every coordinate in turn, or one along the gradient.
std::vector<AffineStep> round_affine(State& state, const AttributeColumns& columns, In1<uint8_t> allowed,
                                     nb::object share, double rate, bool gradient, double l2) {
    const Attributes x = columns.of(&state, allowed_of(allowed, columns), share_of(state, share));
    std::vector<AffineStep> steps;
    nb::gil_scoped_release release;
    if (gradient) {
        steps.push_back(step_affine(state, x, -1, rate, l2));
        return steps;
    }
    Interrupt interrupt;
    for (int r = 0; r < state.classes() - 1; ++r) {
        steps.push_back(step_affine(state, x, r, rate, l2));
        interrupt.poll();
    }
    state.finish_round();
    return steps;
}

// ---- rows in parts ------------------------------------------------------------------------------------------------

auto affine_sums_of(State& state, const AttributeColumns& columns, nb::object share, int outputs, double largest,
                    std::size_t rows) {
    const std::vector<uint8_t> all(columns.low.shape(0), 1);
    const Attributes x = columns.of(&state, all.data(), share_of(state, share));
    require(outputs >= 1 && state.gradient.size() >= outputs * state.rows(), "derive first");
    std::vector<int64_t> sums;
    {
        nb::gil_scoped_release release;
        sums = affine_sums(state, x, outputs, AffineGrid(largest, x, rows));
    }
    return array_of(sums, {sums.size()});
}

AffineStep affine_choice(In1<int64_t> sums, const AttributeColumns& columns, In1<uint8_t> allowed, int outputs,
                         double largest, std::size_t rows) {
    const Attributes x = columns.of(nullptr, allowed_of(allowed, columns), nullptr);
    require(sums.shape(0) == static_cast<size_t>((2 + outputs) * x.count + 1 + outputs), "sums of other columns");
    return {choose_affine(sums.data(), x, outputs, AffineGrid(largest, x, rows))};
}

void require_column(const AffineStep& step, const AttributeColumns& columns) {
    require(step.fit.column >= -1 && step.fit.column < static_cast<int>(columns.low.shape(0)), "no such term");
}

void set_affine_steps(State& state, int coordinate, const AttributeColumns& columns, const AffineStep& step) {
    const std::size_t outputs = coordinate < 0 ? state.classes() - 1 : 1;
    require(step.fit.slope.size() == outputs, "one slope per output");
    require_column(step, columns);
    set_affine(state, columns.of(&state, nullptr, nullptr), step.fit, coordinate);
}

double affine_largest_move(const AffineStep& step, const AttributeColumns& columns, int coordinate, int classes) {
    require_column(step, columns);
    return affine_reach(step.fit, columns.of(nullptr, nullptr, nullptr), coordinate, classes);
}

// Without a copy: the record owns the values.
auto view_of(const std::vector<double>& values) {
    return nb::ndarray<nb::numpy, const double, nb::ndim<1>>(values.data(), {values.size()});
}

void bind_records(nb::module_& area) {
    nb::class_<AttributeColumns>(area, "Attributes", "Standardised attributes, and the range of each over all rows.")
        .def(
            "__init__",
            [](AttributeColumns* self, In2<double> values, In1<double> low, In1<double> high) {
                require(values.shape(1) == low.shape(0) && low.shape(0) == high.shape(0),
                        "low and high must have one value per column");
                new (self) AttributeColumns{std::move(values), std::move(low), std::move(high)};
            },
            nb::arg("values").noconvert(), nb::arg("low").noconvert(), nb::arg("high").noconvert());
    nb::class_<AffineStep>(area, "AffineStep", "A term a x + b for each output, and how far the rows go along it.")
        .def(
            "__init__",
            [](AffineStep* self, int column, std::vector<double> slope, std::vector<double> level) {
                require(slope.size() == level.size(), "one slope and one level per output");
                new (self) AffineStep{{column, std::move(slope), std::move(level), 0.0}};
            },
            nb::arg("column"), nb::arg("slope"), nb::arg("level"))
        .def_prop_ro("column", [](const AffineStep& self) { return self.fit.column; })
        .def_prop_ro("slope", [](const AffineStep& self) { return view_of(self.fit.slope); })
        .def_prop_ro("level", [](const AffineStep& self) { return view_of(self.fit.intercept); })
        .def_prop_ro("edge", [](const AffineStep& self) { return self.fit.explained; })
        .def_prop_ro("leverage", [](const AffineStep& self) { return self.line.leverage; })
        .def_prop_ro("capped", [](const AffineStep& self) { return self.line.capped; });
}

}  // namespace

void bind_affine(nb::module_& area, nb::class_<State>& state) {
    bind_records(area);
    state
        .def("round_affine", &round_affine, nb::arg("attributes"), nb::arg("allowed").noconvert(),
             nb::arg("share").none(), nb::arg("rate"), nb::arg("gradient"), nb::arg("l2") = 0.0)
        .def("affine_sums", &affine_sums_of, nb::arg("attributes"), nb::arg("share").none(), nb::arg("outputs"),
             nb::arg("largest"), nb::arg("rows"))
        .def("set_affine", &set_affine_steps, nb::arg("coordinate"), nb::arg("attributes"), nb::arg("step"));
    area.def("affine_choice", &affine_choice, nb::arg("sums").noconvert(), nb::arg("attributes"),
             nb::arg("allowed").noconvert(), nb::arg("outputs"), nb::arg("largest"), nb::arg("rows"));
    area.def("affine_largest_move", &affine_largest_move, nb::arg("step"), nb::arg("attributes"), nb::arg("coordinate"),
             nb::arg("classes"));
    area.def(
        "affine_mean_square",
        [](const AffineStep& of, int r, int classes) { return affine_square(of.fit, r, classes); }, nb::arg("step"),
        nb::arg("coordinate"), nb::arg("classes"));
}

}  // namespace permissible::mcboost
