// Bindings for rows in parts: what a part answers (integer and exact sums over its rows), and how a coordinator chooses
// from answers alone. The choices are those of splits.hpp and stumps.hpp, as for rows in one piece.
#include "mcboost/bind_parts.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <stdexcept>

#include "common/arrays.hpp"
#include "mcboost/splits.hpp"
#include "mcboost/stumps.hpp"

namespace nb = nanobind;

namespace permissible::mcboost {

namespace {

using Many = std::vector<int64_t>;

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

template <typename T>
auto array_of(const std::vector<T>& values, std::initializer_list<size_t> shape) {
    auto data = std::make_unique<T[]>(std::max<std::size_t>(values.size(), 1));
    std::copy(values.begin(), values.end(), data.get());
    return to_numpy(std::move(data), shape);
}

auto limbs_of(std::initializer_list<const Accumulator*> sums) {
    std::vector<int64_t> all;
    for (const Accumulator* sum : sums) all.insert(all.end(), sum->limbs.begin(), sum->limbs.end());
    return array_of(all, {sums.size(), static_cast<size_t>(Accumulator::kLimbs + 1)});
}

Codes codes_of(const In3<uint8_t>& blocks, const In1<uint8_t>& categorical, const In1<int32_t>& bins) {
    const auto columns = static_cast<int>(categorical.shape(0));
    require(blocks.shape(2) == 8 && blocks.shape(0) * 8 >= categorical.shape(0), "blocks must be (n_blocks, n, 8)");
    require(bins.shape(0) == categorical.shape(0), "bins must have one value per column");
    return {blocks.data(), blocks.shape(1), columns, categorical.data(), bins.data()};
}

auto begin_sums(State& state) {
    RoundSums sums;
    {
        nb::gil_scoped_release release;
        sums = state.begin_round_sums();
    }
    return limbs_of({&sums.surrogate, &sums.cost, &sums.error});
}

// Derives along a coordinate (-1: along all); the largest size of each gradient, of the curvature and of the weight.
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

auto leaves_of(In3<uint8_t> blocks, In1<int32_t> column, In1<int32_t> left, In1<int32_t> right, In2<uint8_t> mask) {
    const std::size_t n = blocks.shape(1), nodes = column.shape(0);
    require(blocks.shape(2) == 8, "blocks must be (n_blocks, n, 8)");
    require(left.shape(0) == nodes && right.shape(0) == nodes && mask.shape(0) == nodes && mask.shape(1) == 32,
            "one value per node");
    for (std::size_t k = 0; k < nodes; ++k)
        require(column.data()[k] >= 0 && static_cast<size_t>(column.data()[k]) < blocks.shape(0) * 8 &&
                    left.data()[k] < static_cast<int64_t>(nodes) && right.data()[k] < static_cast<int64_t>(nodes) &&
                    (left.data()[k] < 0 || left.data()[k] > static_cast<int64_t>(k)) &&
                    (right.data()[k] < 0 || right.data()[k] > static_cast<int64_t>(k)),
                "nodes must have columns that exist and come before their children");
    std::vector<int32_t> leaf(n, 0);
    if (nodes > 0) {
        nb::gil_scoped_release release;
        const Codes codes{blocks.data(), n, static_cast<int>(blocks.shape(0) * 8), nullptr, nullptr};
        for (std::size_t i = 0; i < n; ++i) {
            int node = 0;
            while (node >= 0) {
                const uint8_t code = codes.column(column.data()[node])[i * 8];
                const bool goes_left = (mask.data()[node * 32 + (code >> 3)] >> (code & 7)) & 1;
                node = goes_left ? left.data()[node] : right.data()[node];
            }
            leaf[i] = ~node;
        }
    }
    return array_of(leaf, {n});
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

StumpGrids grids_from(const std::vector<double>& largest, std::size_t rows) {
    require(largest.size() >= 2, "one size per gradient and one of the curvature");
    return stump_grids(largest, rows);
}

auto packed_cells(State& state, In3<uint8_t> blocks, In1<uint8_t> categorical, In1<int32_t> bins,
                  const std::vector<double>& largest, std::size_t rows) {
    const Codes codes = codes_of(blocks, categorical, bins);
    const StumpGrids grids = grids_from(largest, rows);
    require(codes.rows == state.rows() && state.gradient.size() >= grids.outputs * state.rows(), "derive first");
    std::vector<int64_t> cells;
    {
        nb::gil_scoped_release release;
        cells = stump_cells(codes, state, grids);
    }
    return array_of(cells, {cells.size()});
}

StumpTest test_of(int column, int code, bool missing_left) {
    return {0.0, column, code, missing_left};
}

auto packed_sums(State& state, In3<uint8_t> blocks, int column, int code, bool missing_left,
                 const std::vector<double>& largest, std::size_t rows) {
    const StumpGrids grids = grids_from(largest, rows);
    require(blocks.shape(1) == state.rows() && column < static_cast<int>(blocks.shape(0) * 8), "no such column");
    require(state.gradient.size() >= grids.outputs * state.rows(), "derive first");
    const Codes codes{blocks.data(), blocks.shape(1), static_cast<int>(blocks.shape(0) * 8), nullptr, nullptr};
    std::vector<int64_t> flat;
    std::vector<uint8_t> left;
    stump_sides(codes, test_of(column, code, missing_left), left);
    for (const SideSums& sums : stump_sums(state, left, grids))
        flat.insert(flat.end(), {sums.all, sums.left, sums.size});
    return array_of(flat, {flat.size() / 3, 3});
}

nb::tuple packed_test(In1<int64_t> cells, In1<uint8_t> categorical, In1<int32_t> bins, double l2,
                      const std::vector<double>& largest, std::size_t rows) {
    const StumpGrids grids = grids_from(largest, rows);
    const auto columns = static_cast<int>(categorical.shape(0));
    require(cells.shape(0) == (categorical.shape(0) + 7) / 8 * 8 * 256 * grids.width(),
            "cells must be those of all columns");
    const Codes codes{nullptr, 0, columns, categorical.data(), bins.data()};
    const StumpTest best = best_stump(codes, {cells.data(), cells.data() + cells.size()}, l2, grids);
    return nb::make_tuple(best.column, best.code, best.missing_left);
}

nb::dict tree_arrays(const Tree& tree) {
    nb::dict out;
    std::vector<uint8_t> mask;
    for (const auto& bits : tree.mask) mask.insert(mask.end(), bits.begin(), bits.end());
    out["column"] = array_of(tree.column, {tree.column.size()});
    out["code"] = array_of(tree.code, {tree.code.size()});
    out["left"] = array_of(tree.left, {tree.left.size()});
    out["right"] = array_of(tree.right, {tree.right.size()});
    out["mask"] = array_of(mask, {tree.column.size(), 32});
    out["value"] = array_of(tree.value, {tree.value.size() / tree.outputs, static_cast<size_t>(tree.outputs)});
    out["edge"] = tree.edge;
    return out;
}

nb::dict packed_stump(int column, int code, bool missing_left, In2<int64_t> sums, double l2,
                      const std::vector<double>& largest, std::size_t rows) {
    const StumpGrids grids = grids_from(largest, rows);
    require(sums.shape(0) == static_cast<size_t>(grids.count()) && sums.shape(1) == 3, "three sums of each term");
    std::vector<SideSums> sides;
    for (int t = 0; t < grids.count(); ++t)
        sides.push_back({sums.data()[3 * t], sums.data()[3 * t + 1], sums.data()[3 * t + 2]});
    return tree_arrays(stump_of(test_of(column, code, missing_left), sides, l2, grids));
}

/// The coordinator's side of a tree or rule.
class Choices {
  public:
    Choices(In1<uint8_t> categorical, In1<int32_t> bins, const Growth& growth, const Grids& grids, int outputs)
        : categorical_(categorical.data(), categorical.data() + categorical.shape(0)),
          bins_(bins.data(), bins.data() + bins.shape(0)),
          growth_(growth),
          columns_(chosen_columns(static_cast<int>(categorical.shape(0)), growth.column_share, growth.seed)),
          chooser_(growth, grids, outputs, growth.max_literals > 0) {
        require(bins.shape(0) == categorical.shape(0), "bins must have one value per column");
        std::size_t at = 0;
        for (std::size_t c = 0; c < bins_.size(); ++c) {
            start_.push_back(at);
            at += cells_of(categorical_[c], bins_[c]) * stride();
        }
        start_.push_back(at);
    }

    /// Sums of a node, from the cells of its first column; the root's are those of everything.
    Many total(In1<int64_t> cells) const {
        require(cells.shape(0) == start_.back(), "cells must be those of all columns");
        Many sums(chooser_.width(), 0);
        for (std::size_t at = 0; at < start_[1]; at += stride()) chooser_.add(sums, cells.data() + at);
        return sums;
    }
    void set_everything(const Many& sums) { chooser_.everything = sums; }
    double score(const Many& sums) const { return chooser_.score(sums); }

    nb::object split(In1<int64_t> cells, const Many& total, uint64_t seed) const {
        require(cells.shape(0) == start_.back(), "cells must be those of all columns");
        const uint64_t node_seed = mixed(seed);
        Split<Many> best;
        for (const int column : columns_) {
            const int64_t* own = cells.data() + start_[column];
            const bool categories = categorical_[column];
            Split<Many> found = growth_.random_thresholds
                                    ? chooser_.random_of_cells(total, column, categories, bins_[column], own, stride(),
                                                               mixed(node_seed ^ mixed(column + 1)))
                                    : chooser_.of_cells(total, column, categories, bins_[column], own, stride());
            if (found.gain > best.gain) best = std::move(found);
        }
        if (best.column < 0) return nb::none();
        return nb::make_tuple(best.gain, best.column, best.code, best.side_left,
                              nb::bytes(reinterpret_cast<const char*>(best.mask.data()), best.mask.size()), best.left);
    }

    nb::tuple finish(const std::vector<Many>& leaves, int64_t size, int outputs) const {
        Tree tree;
        tree.outputs = outputs;
        chooser_.finish(tree, leaves, size);
        return nb::make_tuple(array_of(tree.value, {leaves.size(), static_cast<size_t>(outputs)}), tree.edge);
    }

  private:
    std::size_t stride() const { return chooser_.width() + 1; }

    std::vector<uint8_t> categorical_;
    std::vector<int32_t> bins_;
    Growth growth_;
    std::vector<int> columns_;
    Chooser<Many> chooser_;
    std::vector<std::size_t> start_;
};

Choices* make_choices(In1<uint8_t> categorical, In1<int32_t> bins, int max_literals, double min_leaf_weight, double l2,
                      bool random_thresholds, double column_share, uint64_t seed, double gradient_grid,
                      double curvature_grid, double weight_grid, int outputs) {
    require(categorical.shape(0) > 0, "at least one column");
    const Growth growth{0, 0, max_literals, min_leaf_weight, l2, random_thresholds, column_share, seed};
    return std::make_unique<Choices>(categorical, bins, growth, Grids{gradient_grid, curvature_grid, weight_grid},
                                     outputs)
        .release();
}

nb::tuple line_search(const nb::callable& slopes_at, double largest_move) {
    const LineSearch line = minimise(
        [&](double alpha) {
            const nb::tuple found = nb::cast<nb::tuple>(slopes_at(alpha));
            return Slopes{nb::cast<double>(found[0]), nb::cast<double>(found[1])};
        },
        largest_move);
    return nb::make_tuple(line.leverage, line.capped);
}

// The most that a unit of leverage moves a score: by the largest value of a coordinate's tree, or by the largest of all
// directions.
double largest_move(In2<double> values, int coordinate, int classes) {
    const std::size_t outputs = coordinate < 0 ? static_cast<std::size_t>(classes) - 1 : 1;
    require(values.shape(1) == outputs && classes >= 2, "one value per leaf and output");
    State state(values.shape(0), classes, Loss::gll, 1);  // a row for each leaf
    double largest = 0;
    if (coordinate >= 0) {
        for (std::size_t i = 0; i < values.size(); ++i) largest = std::max(largest, std::abs(values.data()[i]));
        return largest * state.coordinate_scale(coordinate) * (coordinate + 1);
    }
    std::vector<double> f(values.size());
    for (std::size_t r = 0; r < outputs; ++r)
        for (std::size_t i = 0; i < values.shape(0); ++i) f[r * values.shape(0) + i] = values.data()[i * outputs + r];
    state.directions_from_step(f);
    for (const double value : state.directions) largest = std::max(largest, std::abs(value));
    return largest;
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

bool packed_applies(In1<uint8_t> categorical, int max_leaves, int max_literals, double min_leaf_weight,
                    bool random_thresholds, double column_share, bool shared_rows, std::size_t rows) {
    const Codes codes{nullptr, rows, static_cast<int>(categorical.shape(0)), categorical.data(), nullptr};
    const Growth growth{max_leaves, 0, max_literals, min_leaf_weight, 0.0, random_thresholds, column_share, 0};
    return packed_stump_applies(codes, growth, shared_rows, rows);
}

}  // namespace

void bind_parts(nb::module_& area, nb::class_<State>& state) {
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
    nb::class_<Choices>(area, "Choices", "The best tests of nodes of a tree or rule, from their cells.")
        .def("total", &Choices::total, nb::arg("cells").noconvert())
        .def("set_everything", &Choices::set_everything, nb::arg("sums"))
        .def("score", &Choices::score, nb::arg("sums"))
        .def("split", &Choices::split, nb::arg("cells").noconvert(), nb::arg("total"), nb::arg("seed"))
        .def("finish", &Choices::finish, nb::arg("leaves"), nb::arg("size"), nb::arg("outputs"));
    area.def("choices", &make_choices, nb::arg("categorical").noconvert(), nb::arg("bins").noconvert(),
             nb::arg("max_literals"), nb::arg("min_leaf_weight"), nb::arg("l2"), nb::arg("random_thresholds"),
             nb::arg("column_share"), nb::arg("seed"), nb::arg("gradient_grid"), nb::arg("curvature_grid"),
             nb::arg("weight_grid"), nb::arg("outputs"), nb::rv_policy::take_ownership);
    area.def("leaves_of", &leaves_of, nb::arg("blocks").noconvert(), nb::arg("column").noconvert(),
             nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("mask").noconvert());
    area.def("packed_applies", &packed_applies, nb::arg("categorical").noconvert(), nb::arg("max_leaves"),
             nb::arg("max_literals"), nb::arg("min_leaf_weight"), nb::arg("random_thresholds"), nb::arg("column_share"),
             nb::arg("shared_rows"), nb::arg("rows"));
    area.def("packed_test", &packed_test, nb::arg("cells").noconvert(), nb::arg("categorical").noconvert(),
             nb::arg("bins").noconvert(), nb::arg("l2"), nb::arg("largest"), nb::arg("rows"));
    area.def("packed_stump", &packed_stump, nb::arg("column"), nb::arg("code"), nb::arg("missing_left"),
             nb::arg("sums").noconvert(), nb::arg("l2"), nb::arg("largest"), nb::arg("rows"));
    area.def("line_search", &line_search, nb::arg("slopes_at"), nb::arg("largest_move"));
    area.def("largest_move", &largest_move, nb::arg("values").noconvert(), nb::arg("coordinate"), nb::arg("classes"));
    area.def("grid_of", &grid_of, nb::arg("largest"), nb::arg("rows"));
}

}  // namespace permissible::mcboost
