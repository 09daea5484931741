// Bindings of affine terms on rows in parts: what a part answers, exact sums over its rows, and the line search.
#include "bind/mcboost/mcboost.hpp"
#include "mcboost/affine.hpp"

namespace permissible::mcboost {

namespace {

auto begin_sums(State& state) {
    RoundSums sums;
    {
        nb::gil_scoped_release release;
        sums = state.begin_round_sums();
    }
    return limbs_of({&sums.surrogate, &sums.cost, &sums.error});
}

// Computes derivatives along a coordinate (-1: all); returns the largest weight of a row.
double derive_largest(State& state, int coordinate) {
    require(coordinate >= -1 && coordinate < state.classes() - 1, "coordinate must be -1..M-2");
    nb::gil_scoped_release release;
    if (coordinate < 0)
        state.derive_all();
    else
        state.derive(coordinate);
    return largest_weight(state, coordinate < 0 ? state.classes() - 1 : 1);
}

auto slope_limbs(const State& state, int coordinate, double alpha) {
    SlopeSums sums;
    {
        nb::gil_scoped_release release;
        sums = state.slopes_at(coordinate, alpha);
    }
    return limbs_of({&sums.first, &sums.second});
}

void move_rows(State& state, int coordinate, double factor) {
    nb::gil_scoped_release release;
    if (coordinate < 0)
        state.advance_all(factor);
    else
        state.advance(coordinate, factor);
}

auto save(const State& state) {
    std::vector<double> all(state.fields() * state.rows());
    state.save(all.data());
    return array_of(all, {state.fields(), state.rows()});
}

void restore(State& state, In2<double> saved) {
    require(saved.shape(0) == state.fields() && saved.shape(1) == state.rows(), "not the state of these rows");
    state.restore(saved.data());
}

nb::tuple line_search(const nb::callable& slopes_at, double largest_move, double penalty) {
    const LineSearch line = minimise(
        [&](double alpha) {
            const nb::tuple found = nb::cast<nb::tuple>(slopes_at(alpha));
            return Slopes{nb::cast<double>(found[0]), nb::cast<double>(found[1])};
        },
        largest_move, penalty);
    return nb::make_tuple(line.leverage, line.capped);
}

}  // namespace

void bind_parts(nb::module_& area, nb::class_<State>& state) {
    state.def("begin_sums", &begin_sums)
        .def("derive_largest", &derive_largest, nb::arg("coordinate"))
        .def("slopes", &slope_limbs, nb::arg("coordinate"), nb::arg("alpha"))
        .def("move", &move_rows, nb::arg("coordinate"), nb::arg("factor"))
        .def("save", &save)
        .def("restore", &restore, nb::arg("saved").noconvert());
    area.def("line_search", &line_search, nb::arg("slopes_at"), nb::arg("largest_move"), nb::arg("penalty") = 0.0);
}

}  // namespace permissible::mcboost
