// Bindings of the trees area: exact dtypes, sizes checked, the GIL released, no copies of the rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bind/tree_parts.hpp"
#include "common/arrays.hpp"
#include "common/codes.hpp"
#include "common/interrupt.hpp"
#include "predict/tree.hpp"
#include "trees/grow.hpp"

namespace permissible::trees {

UserPhi user_phi(nb::object function) {
    return [function](const double* probability, std::size_t count, double* out) {
        nb::gil_scoped_acquire gil;
        auto copy = std::make_unique<double[]>(count);
        std::copy(probability, probability + count, copy.get());
        nb::object answer = function(to_numpy<double>(std::move(copy), {count}));
        auto values = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(answer, false);
        if (values.shape(0) != count)
            throw std::invalid_argument("an impurity must return one value for each probability");
        std::copy(values.data(), values.data() + count, out);
    };
}

namespace {

nb::dict as_dict(const Tree& tree, int classes) {
    const std::size_t nodes = tree.left.size(), splits = tree.gain.size();
    std::vector<std::uint8_t> sets;
    for (const auto& set : tree.left_set) sets.insert(sets.end(), set.begin(), set.end());
    nb::dict out;
    out["left"] = array_of(tree.left, {nodes});
    out["right"] = array_of(tree.right, {nodes});
    out["column"] = array_of(tree.column, {nodes});
    out["code"] = array_of(tree.code, {nodes});
    out["test"] = array_of(tree.test, {nodes});
    out["left_set"] = array_of(sets, {nodes, 32});
    out["weight"] = array_of(tree.sums, {nodes, static_cast<std::size_t>(classes)});
    out["impurity"] = array_of(tree.value, {nodes});
    out["samples"] = array_of(tree.samples, {nodes});
    out["split_order"] = array_of(tree.split_order, {splits});
    out["gain"] = array_of(tree.gain, {splits});
    out["leaf_of_row"] = array_of(tree.leaf_of_row, {tree.leaf_of_row.size()});
    return out;
}

/// Weights are counts (int32, one unit each) or multiples of `unit` (int64).
template <typename Sum>
nb::dict bind_grow(In3<std::uint8_t> blocks, std::size_t n_columns, In1<std::uint16_t> target, int classes,
                   std::optional<In1<Sum>> weight, double unit, bool counted, In1<std::int32_t> codes,
                   In1<std::uint8_t> categorical, In1<std::int8_t> monotone, int phi, double parameter,
                   nb::object function, std::int64_t max_leaves, std::int64_t max_depth, double min_samples,
                   double min_weight, double min_gain, bool name_leaves, int threads) {
    const std::size_t n = blocks.shape(1);
    require(blocks.shape(2) == 8 && n_columns <= blocks.shape(0) * 8, "blocks must have shape (n_blocks, n_rows, 8)");
    require(n < (std::size_t{1} << 32), "a tree takes fewer than 2^32 rows");
    require(target.shape(0) == n && (!weight || weight->shape(0) == n),
            "target and weight must have one entry per row");
    require(codes.shape(0) == n_columns && categorical.shape(0) == n_columns && monotone.shape(0) == n_columns,
            "codes, categorical and monotone must have one entry per column");
    require(classes >= 2 && phi >= 0 && phi <= 5, "classes or phi out of range");
    require(phi != static_cast<int>(Phi::callback) || !function.is_none(), "a user's phi needs its function");
    for (std::size_t i = 0; i < n; ++i) require(target(i) < classes, "a target code is not below the count of classes");
    for (std::size_t j = 0; j < n_columns; ++j) require(codes(j) >= 1 && codes(j) <= 255, "codes must lie in 1..255");
    const Codes view{blocks.data(), n, static_cast<int>(n_columns), nullptr, codes.data()};
    require(codes_fit(view), "a code is beyond the codes of its column");
    const ClassRows<Sum> rows{view, target.data(), weight ? weight->data() : nullptr, classes, counted};
    Impurity impurity{static_cast<Phi>(phi), parameter, {}};
    if (impurity.phi == Phi::callback) impurity.user = user_phi(function);
    Options options;
    options.max_leaves = max_leaves;
    options.max_depth = max_depth;
    options.limits = {min_samples, min_weight, min_gain};
    options.unit = unit;
    options.threads = threads;
    options.name_leaves = name_leaves;
    options.categorical.assign(categorical.data(), categorical.data() + n_columns);
    options.monotone.assign(monotone.data(), monotone.data() + n_columns);
    options.poll = [interrupt = Interrupt()]() mutable { interrupt.poll(); };
    Tree tree;
    {
        nb::gil_scoped_release release;
        tree = grow(rows, impurity, options);
    }
    return as_dict(tree, classes);
}

nb::object bind_find_leaves(In1<std::int32_t> left, In1<std::int32_t> right, In1<std::int32_t> node_column,
                            In1<double> threshold, In1<std::int8_t> test, In2<std::uint8_t> left_set,
                            In1<std::uint8_t> code_of_category, In1<std::int64_t> category_begin, int other,
                            nb::list columns, std::size_t n_rows, int threads) {
    const std::size_t nodes = left.shape(0);
    require(right.shape(0) == nodes && node_column.shape(0) == nodes && threshold.shape(0) == nodes &&
                test.shape(0) == nodes && left_set.shape(0) == nodes && left_set.shape(1) == 32,
            "the arrays of a tree must have one entry per node");
    require(category_begin.shape(0) == columns.size() + 1,
            "category_begin must have one entry per column and one more");
    const ColumnArrays arrays(columns);
    arrays.require_rows(n_rows);
    const auto& views = arrays.views;
    for (std::size_t k = 0; k < nodes; ++k) {
        if (left(k) < 0) continue;
        const auto j = static_cast<std::size_t>(node_column(k));
        require(left(k) > static_cast<int>(k) && right(k) > static_cast<int>(k) &&
                    static_cast<std::size_t>(std::max(left(k), right(k))) < nodes,
                "children must follow their parent");
        require(j < views.size(), "a node tests a column that is not there");
        require((views[j].type == ColumnType::category) == (test(k) == 2), "a test does not fit its column");
    }
    const Nodes tree{nodes,
                     left.data(),
                     right.data(),
                     node_column.data(),
                     threshold.data(),
                     test.data(),
                     left_set.data(),
                     code_of_category.data(),
                     category_begin.data(),
                     other};
    auto leaf = std::make_unique<std::int32_t[]>(std::max<std::size_t>(n_rows, 1));
    {
        nb::gil_scoped_release release;
        find_leaves(tree, views, n_rows, leaf.get(), threads);
    }
    return nb::cast(to_numpy<std::int32_t>(std::move(leaf), {n_rows}));
}

template <typename Sum>
void define_grow(nb::module_& area, const char* name) {
    area.def(name, &bind_grow<Sum>, nb::arg("blocks").noconvert(), nb::arg("n_columns"), nb::arg("target").noconvert(),
             nb::arg("classes"), nb::arg("weight").noconvert().none(), nb::arg("unit"), nb::arg("counted"),
             nb::arg("codes").noconvert(), nb::arg("categorical").noconvert(), nb::arg("monotone").noconvert(),
             nb::arg("phi"), nb::arg("parameter"), nb::arg("function").none(), nb::arg("max_leaves"),
             nb::arg("max_depth"), nb::arg("min_samples"), nb::arg("min_weight"), nb::arg("min_gain"),
             nb::arg("name_leaves"), nb::arg("threads"));
}

}  // namespace
}  // namespace permissible::trees

void bind_trees(nanobind::module_& area) {
    namespace nb = nanobind;
    using namespace permissible::trees;
    area.doc() = "Growth of decision trees and descent through them.";
    define_grow<std::int32_t>(area, "grow_counts");
    define_grow<std::int64_t>(area, "grow_weights");
    define_parts(area);
    area.def("find_leaves", &bind_find_leaves, nb::arg("left").noconvert(), nb::arg("right").noconvert(),
             nb::arg("node_column").noconvert(), nb::arg("threshold").noconvert(), nb::arg("test").noconvert(),
             nb::arg("left_set").noconvert(), nb::arg("code_of_category").noconvert(),
             nb::arg("category_begin").noconvert(), nb::arg("other"), nb::arg("columns"), nb::arg("n_rows"),
             nb::arg("threads"));
}
