// Bindings of affine terms: rounds on rows in one piece, and for rows in parts what a part answers and a coordinator
// chooses.
#include "bind/mcboost.hpp"
#include "mcboost/affine.hpp"

namespace permissible::mcboost {

namespace {

// One step along a coordinate, or (-1) along the gradient; writes a row for each output: column, slope, intercept,
// leverage, capped, explained.
void step_linear(State& state, const Attributes& x, int coordinate, double rate, double* out) {
    if (coordinate < 0)
        state.derive_all(false);
    else
        state.derive(coordinate);
    const int outputs = coordinate < 0 ? state.classes() - 1 : 1;
    const Affine fit = fit_affine(state, x, outputs);
    set_affine(state, x, fit, coordinate);
    const LineSearch line = state.search_within(coordinate, affine_reach(fit, x, coordinate, state.classes()));
    if (coordinate < 0)
        state.advance_all(rate * line.leverage);
    else
        state.advance(coordinate, rate * line.leverage);
    for (int r = 0; r < outputs; ++r) {
        const double row[] = {static_cast<double>(fit.column), fit.slope[r], fit.intercept[r], line.leverage,
                              line.capped ? 1.0 : 0.0,         fit.explained};
        std::copy(row, row + 6, out + static_cast<std::size_t>(r) * 6);
    }
}

Attributes attributes_from(const State& state, const In2<double>& values, const In1<double>& low,
                           const In1<double>& high, const In1<uint8_t>& allowed, const nb::object& share) {
    const std::size_t d = values.shape(1);
    require(values.shape(0) == state.rows(), "values must have one row per training row");
    require(allowed.shape(0) == d && low.shape(0) == d && high.shape(0) == d,
            "allowed, low and high must have one value per column");
    return {values.data(), static_cast<int>(d), low.data(), high.data(), allowed.data(), share_of(state, share)};
}

auto round_linear(State& state, In2<double> values, In1<double> low, In1<double> high, In1<uint8_t> allowed,
                  nb::object share, double rate) {
    const Attributes x = attributes_from(state, values, low, high, allowed, share);
    const int outputs = state.classes() - 1;
    std::vector<double> table(static_cast<std::size_t>(outputs) * 6, 0.0);
    {
        nb::gil_scoped_release release;
        Interrupt interrupt;
        for (int r = 0; r < outputs; ++r) {
            step_linear(state, x, r, rate, &table[static_cast<std::size_t>(r) * 6]);
            interrupt.poll();
        }
        state.finish_round();
    }
    return array_of(table, {static_cast<size_t>(outputs), 6});
}

auto round_linear_gradient(State& state, In2<double> values, In1<double> low, In1<double> high, In1<uint8_t> allowed,
                           nb::object share, double rate) {
    const Attributes x = attributes_from(state, values, low, high, allowed, share);
    const int outputs = state.classes() - 1;
    std::vector<double> table(static_cast<std::size_t>(outputs) * 6, 0.0);
    {
        nb::gil_scoped_release release;
        step_linear(state, x, -1, rate, table.data());
    }
    return array_of(table, {static_cast<size_t>(outputs), 6});
}

// ---- rows in parts ------------------------------------------------------------------------------------------------

// Rows from nowhere: the columns alone, for a coordinator.
Attributes columns_of(const In1<double>& low, const In1<double>& high, const uint8_t* allowed) {
    require(low.shape(0) == high.shape(0), "low and high must have one value per column");
    return {nullptr, static_cast<int>(low.shape(0)), low.data(), high.data(), allowed, nullptr};
}

auto affine_sums_of(State& state, In2<double> values, In1<double> low, In1<double> high, nb::object share, int outputs,
                    double largest, std::size_t rows) {
    std::vector<uint8_t> all(values.shape(1), 1);
    Attributes x = columns_of(low, high, all.data());
    require(values.shape(0) == state.rows() && values.shape(1) == low.shape(0), "values must be (n, d)");
    require(outputs >= 1 && state.gradient.size() >= outputs * state.rows(), "derive first");
    x.values = values.data();
    x.share = share_of(state, share);
    std::vector<int64_t> sums;
    {
        nb::gil_scoped_release release;
        sums = affine_sums(state, x, outputs, AffineGrid(largest, x, rows));
    }
    return array_of(sums, {sums.size()});
}

nb::tuple affine_choice(In1<int64_t> sums, In1<double> low, In1<double> high, In1<uint8_t> allowed, int outputs,
                        double largest, std::size_t rows) {
    require(allowed.shape(0) == low.shape(0), "allowed must have one value per column");
    const Attributes x = columns_of(low, high, allowed.data());
    require(sums.shape(0) == static_cast<size_t>((2 + outputs) * x.count + 1 + outputs), "sums of other columns");
    const Affine fit = choose_affine(sums.data(), x, outputs, AffineGrid(largest, x, rows));
    return nb::make_tuple(fit.column, array_of(fit.slope, {fit.slope.size()}),
                          array_of(fit.intercept, {fit.intercept.size()}), fit.explained);
}

Affine affine_from(int column, const In1<double>& slope, const In1<double>& intercept, int columns) {
    require(column >= -1 && column < columns && slope.shape(0) == intercept.shape(0), "no such term");
    return {column,
            {slope.data(), slope.data() + slope.shape(0)},
            {intercept.data(), intercept.data() + intercept.shape(0)},
            0.0};
}

void set_affine_steps(State& state, int coordinate, In2<double> values, int column, In1<double> slope,
                      In1<double> intercept) {
    const std::size_t outputs = coordinate < 0 ? state.classes() - 1 : 1;
    require(values.shape(0) == state.rows() && slope.shape(0) == outputs,
            "values must be (n, d), one slope per output");
    const auto columns = static_cast<int>(values.shape(1));
    const Attributes x{values.data(), columns, nullptr, nullptr, nullptr, nullptr};
    set_affine(state, x, affine_from(column, slope, intercept, columns), coordinate);
}

double affine_largest_move(int column, In1<double> slope, In1<double> intercept, In1<double> low, In1<double> high,
                           int coordinate, int classes) {
    const Attributes x = columns_of(low, high, nullptr);
    return affine_reach(affine_from(column, slope, intercept, x.count), x, coordinate, classes);
}

}  // namespace

void bind_affine(nb::module_& area, nb::class_<State>& state) {
    state
        .def("round_linear", &round_linear, nb::arg("values").noconvert(), nb::arg("low").noconvert(),
             nb::arg("high").noconvert(), nb::arg("allowed").noconvert(), nb::arg("share").none(), nb::arg("rate"))
        .def("round_linear_gradient", &round_linear_gradient, nb::arg("values").noconvert(), nb::arg("low").noconvert(),
             nb::arg("high").noconvert(), nb::arg("allowed").noconvert(), nb::arg("share").none(), nb::arg("rate"))
        .def("affine_sums", &affine_sums_of, nb::arg("values").noconvert(), nb::arg("low").noconvert(),
             nb::arg("high").noconvert(), nb::arg("share").none(), nb::arg("outputs"), nb::arg("largest"),
             nb::arg("rows"))
        .def("set_affine", &set_affine_steps, nb::arg("coordinate"), nb::arg("values").noconvert(), nb::arg("column"),
             nb::arg("slope").noconvert(), nb::arg("intercept").noconvert());
    area.def("affine_choice", &affine_choice, nb::arg("sums").noconvert(), nb::arg("low").noconvert(),
             nb::arg("high").noconvert(), nb::arg("allowed").noconvert(), nb::arg("outputs"), nb::arg("largest"),
             nb::arg("rows"));
    area.def("affine_largest_move", &affine_largest_move, nb::arg("column"), nb::arg("slope").noconvert(),
             nb::arg("intercept").noconvert(), nb::arg("low").noconvert(), nb::arg("high").noconvert(),
             nb::arg("coordinate"), nb::arg("classes"));
}

}  // namespace permissible::mcboost
