// Bindings for rows in parts: how a coordinator chooses from answers alone. The choices are those of splits.hpp and
// stumps.hpp, as for rows in one part.
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bind/mcboost.hpp"
#include "mcboost/splits.hpp"
#include "mcboost/stumps.hpp"

namespace permissible::mcboost {

namespace {

using Many = std::vector<int64_t>;

nb::tuple packed_test(In1<int64_t> cells, In1<uint8_t> categorical, In1<int32_t> bins, double l2,
                      const std::vector<double>& largest, std::size_t rows) {
    const StumpGrids grids = stump_grids(largest, rows);
    const auto columns = static_cast<int>(categorical.shape(0));
    require_bins(bins, categorical.shape(0));
    require(cells.shape(0) == categorical.shape(0) * 256 * grids.width(), "cells must be those of all columns");
    const Codes codes{nullptr, 0, columns, categorical.data(), bins.data()};
    const StumpTest best = best_stump(codes, columns_of(cells.data(), codes.columns, grids.width()), l2, grids);
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
    const StumpGrids grids = stump_grids(largest, rows);
    require(sums.shape(0) == static_cast<size_t>(grids.count()) && sums.shape(1) == 3, "three sums of each term");
    std::vector<SideSums> sides;
    for (int t = 0; t < grids.count(); ++t)
        sides.push_back({sums.data()[3 * t], sums.data()[3 * t + 1], sums.data()[3 * t + 2]});
    return tree_arrays(stump_of({0.0, column, code, missing_left}, sides, l2, grids));
}

/// The coordinator's side of a tree or rule.
class Choices {
  public:
    Choices(In1<uint8_t> categorical, In1<int32_t> bins, const TreeLimits& growth, const Grids& grids, int outputs)
        : categorical_(categorical.data(), categorical.data() + categorical.shape(0)),
          bins_(bins.data(), bins.data() + bins.shape(0)),
          growth_(growth),
          columns_(chosen_columns(static_cast<int>(categorical.shape(0)), growth.column_share, growth.seed)),
          chooser_(growth, grids, outputs, growth.max_literals > 0) {
        require_bins(bins, categorical.shape(0));
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
            if (found.better_than(best)) best = std::move(found);
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
    TreeLimits growth_;
    std::vector<int> columns_;
    Chooser<Many> chooser_;
    std::vector<std::size_t> start_;
};

Choices* make_choices(In1<uint8_t> categorical, In1<int32_t> bins, int max_literals, double min_leaf_weight, double l2,
                      bool random_thresholds, double column_share, uint64_t seed, double gradient_grid,
                      double curvature_grid, double weight_grid, int outputs) {
    require(categorical.shape(0) > 0, "at least one column");
    const TreeLimits growth{0, 0, max_literals, min_leaf_weight, l2, random_thresholds, column_share, seed};
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

// The largest change of a score per unit of leverage: the largest value of a coordinate's tree, or of all directions.
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
        const CodedTree tree{column.data(), left.data(), right.data(), mask.data()};
        for (std::size_t i = 0; i < n; ++i) leaf[i] = tree.leaf_of(codes, i);
    }
    return array_of(leaf, {n});
}

bool packed_applies(In1<uint8_t> categorical, const TreeLimits& growth, bool shared_rows, std::size_t rows) {
    const Codes codes{nullptr, rows, static_cast<int>(categorical.shape(0)), categorical.data(), nullptr};
    return packed_stump_applies(codes, growth, shared_rows, rows);
}

}  // namespace

void bind_choices(nb::module_& area) {
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
    area.def("packed_applies", &packed_applies, nb::arg("categorical").noconvert(), nb::arg("growth"),
             nb::arg("shared_rows"), nb::arg("rows"));
    area.def("packed_test", &packed_test, nb::arg("cells").noconvert(), nb::arg("categorical").noconvert(),
             nb::arg("bins").noconvert(), nb::arg("l2"), nb::arg("largest"), nb::arg("rows"));
    area.def("packed_stump", &packed_stump, nb::arg("column"), nb::arg("code"), nb::arg("missing_left"),
             nb::arg("sums").noconvert(), nb::arg("l2"), nb::arg("largest"), nb::arg("rows"));
    area.def("line_search", &line_search, nb::arg("slopes_at"), nb::arg("largest_move"));
    area.def("largest_move", &largest_move, nb::arg("values").noconvert(), nb::arg("coordinate"), nb::arg("classes"));
    area.def("grid_of", &tree_grid, nb::arg("largest"), nb::arg("rows"));
}

}  // namespace permissible::mcboost
