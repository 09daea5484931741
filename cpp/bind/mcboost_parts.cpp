// Bindings for rows in parts: what a part answers, integer and exact sums over its rows (bind_choices.cpp chooses).
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bind/mcboost.hpp"
#include "mcboost/splits.hpp"
#include "mcboost/stumps.hpp"

namespace permissible::mcboost {

namespace {

auto limbs_of(std::initializer_list<const Accumulator*> sums) {
    std::vector<int64_t> all;
    for (const Accumulator* sum : sums) all.insert(all.end(), sum->limbs.begin(), sum->limbs.end());
    return array_of(all, {sums.size(), static_cast<size_t>(Accumulator::kLimbs + 1)});
}

auto begin_sums(State& state) {
    RoundSums sums;
    {
        nb::gil_scoped_release release;
        sums = state.begin_round_sums();
    }
    return limbs_of({&sums.surrogate, &sums.cost, &sums.error});
}

// Computes derivatives along a coordinate (-1: all); returns the largest gradients, curvature and weight by size.
auto derive_largest(State& state, int coordinate, bool newton) {
    require(coordinate >= -1 && coordinate < state.classes() - 1, "coordinate must be -1..M-2");
    const int outputs = coordinate < 0 ? state.classes() - 1 : 1;
    std::vector<double> largest;
    {
        nb::gil_scoped_release release;
        if (coordinate < 0)
            state.derive_all(newton);
        else
            state.derive(coordinate);
        largest = largest_terms(state, outputs);
        double heaviest = 0;
        for (const double weight : state.weight) heaviest = std::max(heaviest, std::abs(weight));
        largest.push_back(heaviest);
    }
    return array_of(largest, {largest.size()});
}

// Cells of some nodes, one after the other: for each column its cells, each with the moments and the number of rows;
// and the sum of the sizes of the gradients of each node. `place` is the node of each row, -1 for none.
nb::tuple node_cells(State& state, In3<uint8_t> blocks, In1<uint8_t> categorical, In1<int32_t> bins, In1<int32_t> place,
                     In1<int32_t> wanted, int outputs, double gradient_grid, double curvature_grid,
                     double weight_grid) {
    const Codes codes = codes_of(blocks, categorical, bins);
    const std::size_t n = state.rows(), width = outputs + 3;
    require(codes.rows == n && place.shape(0) == n, "one row of codes and one place for each row");
    require(outputs >= 1 && state.gradient.size() >= outputs * n, "derive first");
    require_within_bins(codes);
    std::vector<std::size_t> start(codes.columns + 1, 0);
    for (int c = 0; c < codes.columns; ++c)
        start[c + 1] = start[c] + cells_of(codes.categorical[c], codes.bins[c]) * width;
    const std::size_t size = start.back(), count = wanted.shape(0);
    std::vector<int64_t> cells(count * size, 0), sizes(count, 0);
    int32_t most = -1;
    for (std::size_t k = 0; k < count; ++k) most = std::max(most, wanted.data()[k]);
    std::vector<int32_t> position(static_cast<std::size_t>(most) + 1, -1);
    for (std::size_t k = 0; k < count; ++k) {
        require(wanted.data()[k] >= 0, "wanted must be nodes");
        position[wanted.data()[k]] = static_cast<int32_t>(k);
    }
    {
        nb::gil_scoped_release release;
        std::vector<int64_t> moment(width, 0);
        for (std::size_t i = 0; i < n; ++i) {
            const int32_t node = place.data()[i];
            if (node < 0 || node > most || position[node] < 0) continue;
            for (int r = 0; r < outputs; ++r) {
                moment[r] = static_cast<int64_t>(std::nearbyint(state.gradient[r * n + i] * gradient_grid));
                sizes[position[node]] += std::abs(moment[r]);
            }
            moment[outputs] = static_cast<int64_t>(std::nearbyint(state.curvature[i] * curvature_grid));
            moment[outputs + 1] = static_cast<int64_t>(std::nearbyint(state.weight[i] * weight_grid));
            moment[outputs + 2] = 1;
            int64_t* own = &cells[position[node] * size];
            for (int c = 0; c < codes.columns; ++c) {
                const int code = codes.column(c)[i * 8];
                const int at = code == kMissingCode && !codes.categorical[c] ? codes.bins[c] : code;
                int64_t* cell = own + start[c] + at * width;
                for (std::size_t k = 0; k < width; ++k) cell[k] += moment[k];
            }
        }
    }
    return nb::make_tuple(array_of(cells, {count, size}), array_of(sizes, {count}));
}

// The step of every row: its leaf's value along a coordinate, or (-1) its leaf's values along all.
void set_steps(State& state, int coordinate, In1<int32_t> leaf, In2<double> values) {
    const std::size_t n = state.rows(), outputs = coordinate < 0 ? state.classes() - 1 : 1;
    require(leaf.shape(0) == n && values.shape(1) == outputs, "one leaf per row, one value per leaf and output");
    for (std::size_t i = 0; i < n; ++i)
        require(leaf.data()[i] >= 0 && static_cast<size_t>(leaf.data()[i]) < values.shape(0), "no such leaf");
    nb::gil_scoped_release release;
    if (coordinate >= 0) {
        for (std::size_t i = 0; i < n; ++i) state.step[i] = values.data()[leaf.data()[i]];
        return;
    }
    std::vector<double> f(n * outputs);
    for (std::size_t r = 0; r < outputs; ++r)
        for (std::size_t i = 0; i < n; ++i) f[r * n + i] = values.data()[leaf.data()[i] * outputs + r];
    state.directions_from_step(f);
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

// The step of a packed vector stump (two_moves): leaf 0 is the left one.
void move_two(State& state, In1<int32_t> leaf, In2<double> values, double rate) {
    const std::size_t n = state.rows();
    require(leaf.shape(0) == n && values.shape(1) + 1 == static_cast<size_t>(state.classes()), "one leaf per row");
    std::vector<uint8_t> side(n);
    for (std::size_t i = 0; i < n; ++i) side[i] = leaf.data()[i] == 0;
    Tree stump;
    stump.outputs = state.classes() - 1;
    stump.value.assign(values.data(), values.data() + values.size());
    nb::gil_scoped_release release;
    state.advance_two_all(side.data(), two_moves(state, stump, rate));
}

auto packed_cells(State& state, In3<uint8_t> blocks, In1<uint8_t> categorical, In1<int32_t> bins,
                  const std::vector<double>& largest, std::size_t rows) {
    const Codes codes = codes_of(blocks, categorical, bins);
    const StumpGrids grids = stump_grids(largest, rows);
    require(codes.rows == state.rows() && state.gradient.size() >= grids.outputs * state.rows(), "derive first");
    std::vector<int64_t> cells;
    {
        nb::gil_scoped_release release;
        cells = stump_cells(codes, state, grids);
    }
    return array_of(cells, {cells.size()});
}

auto packed_sums(State& state, In3<uint8_t> blocks, int column, int code, bool missing_left,
                 const std::vector<double>& largest, std::size_t rows) {
    const StumpGrids grids = stump_grids(largest, rows);
    require(blocks.shape(1) == state.rows() && column >= -1 && column < static_cast<int>(blocks.shape(0) * 8),
            "no such column");
    require(state.gradient.size() >= grids.outputs * state.rows(), "derive first");
    const Codes codes{blocks.data(), blocks.shape(1), static_cast<int>(blocks.shape(0) * 8), nullptr, nullptr};
    std::vector<int64_t> flat;
    std::vector<uint8_t> left(codes.rows);
    for (const SideSums& sums : stump_sums(codes, state, {0.0, column, code, missing_left}, grids, left.data()))
        flat.insert(flat.end(), {sums.all, sums.left, sums.size});
    return array_of(flat, {flat.size() / 3, 3});
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

}  // namespace

void bind_parts(nb::class_<State>& state) {
    state.def("begin_sums", &begin_sums)
        .def("derive_largest", &derive_largest, nb::arg("coordinate"), nb::arg("newton"))
        .def("node_cells", &node_cells, nb::arg("blocks").noconvert(), nb::arg("categorical").noconvert(),
             nb::arg("bins").noconvert(), nb::arg("place").noconvert(), nb::arg("wanted").noconvert(),
             nb::arg("outputs"), nb::arg("gradient_grid"), nb::arg("curvature_grid"), nb::arg("weight_grid"))
        .def("set_steps", &set_steps, nb::arg("coordinate"), nb::arg("leaf").noconvert(), nb::arg("values").noconvert())
        .def("slopes", &slope_limbs, nb::arg("coordinate"), nb::arg("alpha"))
        .def("move", &move_rows, nb::arg("coordinate"), nb::arg("factor"))
        .def("move_two", &move_two, nb::arg("leaf").noconvert(), nb::arg("values").noconvert(), nb::arg("rate"))
        .def("packed_cells", &packed_cells, nb::arg("blocks").noconvert(), nb::arg("categorical").noconvert(),
             nb::arg("bins").noconvert(), nb::arg("largest"), nb::arg("rows"))
        .def("packed_sums", &packed_sums, nb::arg("blocks").noconvert(), nb::arg("column"), nb::arg("code"),
             nb::arg("missing_left"), nb::arg("largest"), nb::arg("rows"))
        .def("save", &save)
        .def("restore", &restore, nb::arg("saved").noconvert());
}

}  // namespace permissible::mcboost
