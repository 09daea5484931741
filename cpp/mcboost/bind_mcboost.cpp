// Bindings of the mcboost area: exact dtypes, sizes checked, the GIL released, no copies of the large arrays.
#include <nanobind/nanobind.h>

#include <cmath>
#include <stdexcept>

#include "common/arrays.hpp"
#include "mcboost/bind_parts.hpp"
#include "mcboost/forest.hpp"
#include "mcboost/linear.hpp"
#include "mcboost/state.hpp"
#include "mcboost/stumps.hpp"
#include "mcboost/trees.hpp"
#include "mcboost/vexp.hpp"

namespace nb = nanobind;
using namespace permissible;
using namespace permissible::mcboost;

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

void poll_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

nb::ndarray<nb::numpy, double> copy_out(const std::vector<double>& values, std::initializer_list<size_t> shape) {
    auto data = std::make_unique<double[]>(values.size());
    std::copy(values.begin(), values.end(), data.get());
    return to_numpy(std::move(data), shape);
}

State* make_state(In1<int32_t> target, In2<double> costs, In1<double> weight, bool shared, int loss, int threads) {
    const std::size_t n = target.shape(0);
    const int m = static_cast<int>(costs.shape(1));
    require(weight.shape(0) == n, "weight must have one value per row");
    require(m >= 2 && costs.shape(0) == (shared ? costs.shape(1) : n), "costs must be (M, M) when shared, else (n, M)");
    require(loss >= 0 && loss <= 4, "loss must be 0..4");
    auto state = std::make_unique<State>(n, m, static_cast<Loss>(loss), threads);
    state->shared_costs = shared;
    state->costs.resize(costs.size());
    for (std::size_t i = 0; i < costs.shape(0); ++i)
        for (int j = 0; j < m; ++j) state->costs[shared ? i * m + j : j * n + i] = costs.data()[i * m + j];
    for (std::size_t i = 0; i < n; ++i) {
        require(target.data()[i] >= 0 && target.data()[i] < m, "target must be a class index");
        state->target[i] = target.data()[i];
        state->weight[i] = weight.data()[i];
    }
    state->prepare();
    return state.release();
}

void set_scores(State& state, In2<double> scores) {
    const std::size_t n = state.rows(), m = state.classes();
    require(scores.shape(0) == n && scores.shape(1) == m, "scores must be (n, M)");
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) state.scores[j * n + i] = scores.data()[i * m + j];
}

nb::ndarray<nb::numpy, double> get_scores(const State& state) {
    const std::size_t n = state.rows(), m = state.classes();
    auto out = std::make_unique<double[]>(n * m);
    for (std::size_t j = 0; j < m; ++j)
        for (std::size_t i = 0; i < n; ++i) out[i * m + j] = state.scores[j * n + i];
    return to_numpy(std::move(out), {n, m});
}

nb::tuple begin_round(State& state) {
    RoundStart start{};
    {
        nb::gil_scoped_release release;
        start = state.begin_round();
    }
    return nb::make_tuple(start.surrogate, start.cost, start.error);
}

// Writes one row of the round's table: column, slope, intercept, leverage, capped, explained.
void coordinate_linear(State& state, const Attributes& x, int r, double rate, double* out) {
    state.derive(r);
    const Affine fit = fit_affine(state, x, 1);
    const auto n = static_cast<std::ptrdiff_t>(state.rows());
    const double a = fit.slope[0], b = fit.intercept[0];
    for (std::ptrdiff_t i = 0; i < n; ++i)
        state.step[i] = fit.column < 0 ? b : a * x.values[i * x.count + fit.column] + b;
    const LineSearch line = state.search(r);
    state.advance(r, rate * line.leverage);
    const double row[] = {static_cast<double>(fit.column), a, b, line.leverage, line.capped ? 1.0 : 0.0, fit.explained};
    std::copy(row, row + 6, out);
}

Attributes attributes_of(const State& state, const In2<double>& values, const In1<uint8_t>& allowed,
                         const nb::object& share) {
    require(values.shape(0) == state.rows(), "values must have one row per training row");
    require(allowed.shape(0) == values.shape(1), "allowed must have one value per column");
    const double* rows = nullptr;
    if (!share.is_none()) {
        auto array = nb::cast<In1<double>>(share);
        require(array.shape(0) == state.rows(), "share must have one value per row");
        rows = array.data();
    }
    return {values.data(), static_cast<int>(values.shape(1)), allowed.data(), rows};
}

nb::ndarray<nb::numpy, double> round_linear(State& state, In2<double> values, In1<uint8_t> allowed, nb::object share,
                                            double rate) {
    const Attributes x = attributes_of(state, values, allowed, share);
    const int outputs = state.classes() - 1;
    std::vector<double> table(static_cast<std::size_t>(outputs) * 6, 0.0);
    {
        nb::gil_scoped_release release;
        for (int r = 0; r < outputs; ++r) {
            coordinate_linear(state, x, r, rate, &table[static_cast<std::size_t>(r) * 6]);
            poll_signals();
        }
        state.finish_round();
    }
    return copy_out(table, {static_cast<size_t>(outputs), 6});
}

nb::ndarray<nb::numpy, double> round_linear_gradient(State& state, In2<double> values, In1<uint8_t> allowed,
                                                     nb::object share, double rate) {
    const Attributes x = attributes_of(state, values, allowed, share);
    const int outputs = state.classes() - 1;
    std::vector<double> table(static_cast<std::size_t>(outputs) * 6, 0.0);
    {
        nb::gil_scoped_release release;
        state.derive_all(false);
        const Affine fit = fit_affine(state, x, outputs);
        const std::size_t n = state.rows();
        std::vector<double> f(n * outputs);
        for (int r = 0; r < outputs; ++r)
            for (std::size_t i = 0; i < n; ++i)
                f[r * n + i] =
                    fit.intercept[r] + (fit.column < 0 ? 0.0 : fit.slope[r] * x.values[i * x.count + fit.column]);
        state.directions_from_step(f);
        const LineSearch line = state.search_all();
        state.advance_all(rate * line.leverage);
        for (int r = 0; r < outputs; ++r) {
            const double row[] = {static_cast<double>(fit.column), fit.slope[r], fit.intercept[r], line.leverage,
                                  line.capped ? 1.0 : 0.0,         fit.explained};
            std::copy(row, row + 6, &table[static_cast<std::size_t>(r) * 6]);
        }
    }
    return copy_out(table, {static_cast<size_t>(outputs), 6});
}

// The pieces of a coordinate step, for learners that live in Python.
nb::tuple derive(State& state, int coordinate) {
    require(coordinate >= 0 && coordinate < state.classes() - 1, "coordinate must be 0..M-2");
    {
        nb::gil_scoped_release release;
        state.derive(coordinate);
    }
    return nb::make_tuple(copy_out(state.gradient, {state.rows()}), copy_out(state.curvature, {state.rows()}));
}

nb::tuple take(State& state, int coordinate, In1<double> step, double rate) {
    require(coordinate >= 0 && coordinate < state.classes() - 1, "coordinate must be 0..M-2");
    require(step.shape(0) == state.rows(), "step must have one value per row");
    LineSearch line{};
    {
        nb::gil_scoped_release release;
        std::copy(step.data(), step.data() + state.rows(), state.step.begin());
        line = state.search(coordinate);
        state.advance(coordinate, rate * line.leverage);
    }
    return nb::make_tuple(line.leverage, line.capped, line.evaluations);
}

nb::ndarray<nb::numpy, double> derive_all(State& state) {
    {
        nb::gil_scoped_release release;
        state.derive_all(false);
    }
    return copy_out(state.gradient, {static_cast<size_t>(state.classes() - 1), state.rows()});
}

nb::tuple take_all(State& state, In2<double> step, double rate) {  // step (M-1, n)
    require(step.shape(0) + 1 == static_cast<size_t>(state.classes()) && step.shape(1) == state.rows(),
            "step must be (M-1, n)");
    LineSearch line{};
    {
        nb::gil_scoped_release release;
        state.directions_from_step(std::vector<double>(step.data(), step.data() + step.size()));
        line = state.search_all();
        state.advance_all(rate * line.leverage);
    }
    return nb::make_tuple(line.leverage, line.capped, line.evaluations);
}

// ---- trees and rules ----------------------------------------------------------------------------------------------

template <typename T>
nb::object array_of(const std::vector<T>& values, std::initializer_list<size_t> shape) {
    auto data = std::make_unique<T[]>(std::max<std::size_t>(values.size(), 1));
    std::copy(values.begin(), values.end(), data.get());
    return nb::cast(to_numpy(std::move(data), shape));
}

/// The trees of a round as flat arrays.
struct RoundTrees {
    std::vector<int32_t> column, code, left, right, first_node{0}, first_value{0}, coordinate;
    std::vector<uint8_t> mask;
    std::vector<double> value, notes;  // notes: leverage, capped, edge of each tree

    void add(const Tree& tree, int on_coordinate, double factor, const LineSearch& line, double edge) {
        column.insert(column.end(), tree.column.begin(), tree.column.end());
        code.insert(code.end(), tree.code.begin(), tree.code.end());
        left.insert(left.end(), tree.left.begin(), tree.left.end());
        right.insert(right.end(), tree.right.begin(), tree.right.end());
        for (const auto& bits : tree.mask) mask.insert(mask.end(), bits.begin(), bits.end());
        for (const double v : tree.value) value.push_back(factor * v);
        first_node.push_back(static_cast<int32_t>(column.size()));
        first_value.push_back(static_cast<int32_t>(value.size()));
        coordinate.push_back(on_coordinate);
        notes.insert(notes.end(), {line.leverage, line.capped ? 1.0 : 0.0, edge});
    }

    nb::dict arrays() const {
        nb::dict out;
        out["column"] = array_of(column, {column.size()});
        out["code"] = array_of(code, {code.size()});
        out["left"] = array_of(left, {left.size()});
        out["right"] = array_of(right, {right.size()});
        out["mask"] = array_of(mask, {column.size(), 32});
        out["first_node"] = array_of(first_node, {first_node.size()});
        out["first_value"] = array_of(first_value, {first_value.size()});
        out["coordinate"] = array_of(coordinate, {coordinate.size()});
        out["value"] = array_of(value, {value.size()});
        out["notes"] = array_of(notes, {coordinate.size(), 3});
        return out;
    }
};

nb::dict round_trees(State& state, In3<uint8_t> blocks, In1<uint8_t> categorical, In1<int32_t> bins, nb::object share,
                     double rate, bool exact, int max_leaves, int max_depth, int max_literals, double min_leaf_weight,
                     double l2, bool random_thresholds, double column_share, uint64_t seed) {
    const std::size_t n = state.rows();
    const int columns = static_cast<int>(categorical.shape(0)), outputs = state.classes() - 1;
    require(blocks.shape(1) == n && blocks.shape(2) == 8 && blocks.shape(0) * 8 >= static_cast<size_t>(columns),
            "blocks must be (n_blocks, n, 8)");
    const double* rows = nullptr;
    if (!share.is_none()) {
        auto array = nb::cast<In1<double>>(share);
        require(array.shape(0) == n, "share must have one value per row");
        rows = array.data();
    }
    require(bins.shape(0) == categorical.shape(0), "bins must have one value per column");
    const Codes codes{blocks.data(), n, columns, categorical.data(), bins.data()};
    Growth growth{max_leaves, max_depth, max_literals, min_leaf_weight, l2, random_thresholds, column_share, seed};
    RoundTrees made;
    {
        nb::gil_scoped_release release;
        std::vector<int32_t> leaf;
        std::vector<uint8_t> left;
        const bool packed = packed_stump_applies(codes, growth, rows != nullptr, n);
        for (int r = 0; r < outputs; ++r) {
            state.derive(r);
            growth.seed = seed * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(r) + 1;
            if (packed && !exact) {
                const Tree tree = grow_packed_stump(codes, state, growth, 1, left);
                const double values[2] = {tree.value.back(), tree.value.front()};  // by the flag "goes left"
                state.advance_two(r, left.data(), values, rate);
                made.add(tree, r, rate, LineSearch{1.0, false, 0}, tree.edge);
                poll_signals();
                continue;
            }
            const Moments moments{state.gradient.data(), state.curvature.data(), state.weight.data(), rows, n, 1};
            const Tree tree = grow(codes, moments, growth, state.threads(), leaf);
            for (std::size_t i = 0; i < n; ++i) state.step[i] = tree.value[leaf[i]];
            const LineSearch line = exact ? state.search(r) : LineSearch{1.0, false, 0};
            state.advance(r, rate * line.leverage);
            made.add(tree, r, rate * line.leverage, line, tree.edge);
            poll_signals();
        }
        state.finish_round();
    }
    return made.arrays();
}

nb::dict made_arrays(const RoundTrees& made) {
    nb::gil_scoped_acquire acquire;
    return made.arrays();
}

// One tree with a value for every coordinate (gradient descent): Newton steps, or with `exact` least squares in the
// norm |w| and one leverage.
nb::dict round_trees_gradient(State& state, In3<uint8_t> blocks, In1<uint8_t> categorical, In1<int32_t> bins,
                              nb::object share, double rate, bool exact, int max_leaves, int max_depth,
                              int max_literals, double min_leaf_weight, double l2, bool random_thresholds,
                              double column_share, uint64_t seed) {
    const std::size_t n = state.rows();
    const int columns = static_cast<int>(categorical.shape(0)), outputs = state.classes() - 1;
    require(blocks.shape(1) == n && blocks.shape(2) == 8 && blocks.shape(0) * 8 >= static_cast<size_t>(columns),
            "blocks must be (n_blocks, n, 8)");
    const double* rows = nullptr;
    if (!share.is_none()) {
        auto array = nb::cast<In1<double>>(share);
        require(array.shape(0) == n, "share must have one value per row");
        rows = array.data();
    }
    require(bins.shape(0) == categorical.shape(0), "bins must have one value per column");
    const Codes codes{blocks.data(), n, columns, categorical.data(), bins.data()};
    const Growth growth{max_leaves, max_depth,         max_literals, min_leaf_weight,
                        l2,         random_thresholds, column_share, seed};
    RoundTrees made;
    {
        nb::gil_scoped_release release;
        std::vector<int32_t> leaf;
        state.derive_all(!exact);
        if (!exact && packed_stump_applies(codes, growth, rows != nullptr, n)) {
            std::vector<uint8_t> side;
            const Tree stump = grow_packed_stump(codes, state, growth, outputs, side);
            state.advance_two_all(side.data(), two_moves(state, stump, rate));
            made.add(stump, -1, rate, LineSearch{1.0, false, 0}, stump.edge);
            return made_arrays(made);
        }
        const Moments moments{state.gradient.data(), state.curvature.data(), state.weight.data(), rows, n, outputs};
        const Tree tree = grow(codes, moments, growth, state.threads(), leaf);
        std::vector<double> f(n * outputs);
        for (int r = 0; r < outputs; ++r)
            for (std::size_t i = 0; i < n; ++i) f[r * n + i] = tree.value[leaf[i] * outputs + r];
        state.directions_from_step(f);
        const LineSearch line = exact ? state.search_all() : LineSearch{1.0, false, 0};
        state.advance_all(rate * line.leverage);
        made.add(tree, -1, rate * line.leverage, line, tree.edge);
    }
    return made.arrays();
}

nb::ndarray<nb::numpy, double> score_trees(In3<uint8_t> blocks, int columns, In1<int32_t> column, In1<int32_t> left,
                                           In1<int32_t> right, In2<uint8_t> mask, In1<int32_t> first_node,
                                           In1<int32_t> first_value, In1<int32_t> coordinate, In1<double> value,
                                           int outputs, int begin, int end, int threads) {
    require(mask.shape(1) == 32 && mask.shape(0) == column.shape(0), "mask must be (nodes, 32)");
    require(begin >= 0 && end <= static_cast<int>(coordinate.shape(0)) && begin <= end, "no such trees");
    const std::size_t n = blocks.shape(1);
    auto f = std::make_unique<double[]>(n * outputs);
    std::fill(f.get(), f.get() + n * outputs, 0.0);
    const Codes codes{blocks.data(), n, columns, nullptr, nullptr};
    const Forest forest{column.data(),
                        left.data(),
                        right.data(),
                        mask.data(),
                        first_node.data(),
                        first_value.data(),
                        coordinate.data(),
                        value.data(),
                        static_cast<int>(coordinate.shape(0)),
                        outputs};
    {
        nb::gil_scoped_release release;
        add_trees(codes, forest, begin, end, threads, f.get());
    }
    return to_numpy(std::move(f), {n, static_cast<size_t>(outputs)});
}

nb::ndarray<nb::numpy, double> exponential(In1<double> x) {
    auto out = std::make_unique<double[]>(x.shape(0));
    for (std::size_t i = 0; i < x.shape(0); ++i) out[i] = vexp(x.data()[i]);
    return to_numpy(std::move(out), {x.shape(0)});
}

}  // namespace

void bind_mcboost(nb::module_& area) {
    nb::class_<State> state(area, "State", "Scores of the training rows and the passes of a round.");
    state.def_prop_ro("rows", &State::rows)
        .def_prop_ro("classes", &State::classes)
        .def("set_scores", &set_scores, nb::arg("scores").noconvert())
        .def("scores", &get_scores)
        .def("begin_round", &begin_round)
        .def("round_linear", &round_linear, nb::arg("values").noconvert(), nb::arg("allowed").noconvert(),
             nb::arg("share").none(), nb::arg("rate"))
        .def("round_linear_gradient", &round_linear_gradient, nb::arg("values").noconvert(),
             nb::arg("allowed").noconvert(), nb::arg("share").none(), nb::arg("rate"))
        .def("round_trees", &round_trees, nb::arg("blocks").noconvert(), nb::arg("categorical").noconvert(),
             nb::arg("bins").noconvert(), nb::arg("share").none(), nb::arg("rate"), nb::arg("exact"),
             nb::arg("max_leaves"), nb::arg("max_depth"), nb::arg("max_literals"), nb::arg("min_leaf_weight"),
             nb::arg("l2"), nb::arg("random_thresholds"), nb::arg("column_share"), nb::arg("seed"))
        .def("round_trees_gradient", &round_trees_gradient, nb::arg("blocks").noconvert(),
             nb::arg("categorical").noconvert(), nb::arg("bins").noconvert(), nb::arg("share").none(), nb::arg("rate"),
             nb::arg("exact"), nb::arg("max_leaves"), nb::arg("max_depth"), nb::arg("max_literals"),
             nb::arg("min_leaf_weight"), nb::arg("l2"), nb::arg("random_thresholds"), nb::arg("column_share"),
             nb::arg("seed"))
        .def("derive", &derive, nb::arg("coordinate"))
        .def("take", &take, nb::arg("coordinate"), nb::arg("step").noconvert(), nb::arg("rate"))
        .def("finish_round", &State::finish_round)
        .def("derive_all", &derive_all)
        .def("take_all", &take_all, nb::arg("step").noconvert(), nb::arg("rate"));
    area.def("state", &make_state, nb::arg("target").noconvert(), nb::arg("costs").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("shared"), nb::arg("loss"), nb::arg("threads"),
             nb::rv_policy::take_ownership);
    area.def("score_trees", &score_trees, nb::arg("blocks").noconvert(), nb::arg("columns"),
             nb::arg("column").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
             nb::arg("mask").noconvert(), nb::arg("first_node").noconvert(), nb::arg("first_value").noconvert(),
             nb::arg("coordinate").noconvert(), nb::arg("value").noconvert(), nb::arg("outputs"), nb::arg("begin"),
             nb::arg("end"), nb::arg("threads"));
    area.def("exponential", &exponential, nb::arg("x").noconvert());
    bind_parts(area, state);
}
