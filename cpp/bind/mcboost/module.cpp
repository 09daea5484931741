// Bindings of the mcboost area: exact dtypes, sizes checked, the GIL released, no copies of the large arrays.
#include "bind/mcboost/mcboost.hpp"
#include "common/elementary.hpp"

namespace nb = nanobind;
using namespace permissible;
using namespace permissible::mcboost;

namespace {

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
    state.scores_changed();
}

nb::ndarray<nb::numpy, double> get_scores(const State& state) {
    const std::size_t n = state.rows(), m = state.classes();
    auto out = std::make_unique_for_overwrite<double[]>(n * m);
    {
        nb::gil_scoped_release release;
        for (std::size_t begin = 0; begin < n; begin += 64)  // a few rows at a time: their cells stay in cache
            for (std::size_t j = 0; j < m; ++j)
                for (std::size_t i = begin; i < std::min(n, begin + 64); ++i) out[i * m + j] = state.scores[j * n + i];
    }
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

// The pieces of a coordinate step, for learners written in Python.
nb::tuple derive(State& state, int coordinate) {
    require(coordinate >= 0 && coordinate < state.classes() - 1, "coordinate must be 0..M-2");
    {
        nb::gil_scoped_release release;
        state.derive(coordinate);
    }
    return nb::make_tuple(array_of(state.gradient, {state.rows()}), array_of(state.curvature, {state.rows()}));
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
        state.derive_all();
    }
    return array_of(state.gradient, {static_cast<size_t>(state.classes() - 1), state.rows()});
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

nb::ndarray<nb::numpy, double> exponentials(In1<double> x) {
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
        .def("derive", &derive, nb::arg("coordinate"))
        .def("take", &take, nb::arg("coordinate"), nb::arg("step").noconvert(), nb::arg("rate"))
        .def("finish_round", &State::finish_round)
        .def("derive_all", &derive_all)
        .def("take_all", &take_all, nb::arg("step").noconvert(), nb::arg("rate"));
    area.def("state", &make_state, nb::arg("target").noconvert(), nb::arg("costs").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("shared"), nb::arg("loss"), nb::arg("threads"),
             nb::rv_policy::take_ownership);
    area.def("exponential", &exponentials, nb::arg("x").noconvert());
    bind_affine(area, state);
    bind_parts(area, state);
    bind_trees(area);
}
