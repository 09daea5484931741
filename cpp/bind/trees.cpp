// Bindings of the trees area: exact dtypes, sizes checked, the GIL released, no copies of the rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "bind/tree_parts.hpp"
#include "common/arrays.hpp"
#include "common/codes.hpp"
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

void demand(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

/// Lets Ctrl-C through, at most ten times a second.
std::function<void()> interrupt_poll() {
    auto last = std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
    return [last] {
        const auto now = std::chrono::steady_clock::now();
        if (now - *last < std::chrono::milliseconds(100)) return;
        *last = now;
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
}

template <typename T>
nb::object array_of(const std::vector<T>& values, std::initializer_list<std::size_t> shape) {
    auto data = std::make_unique<T[]>(std::max<std::size_t>(values.size(), 1));
    std::copy(values.begin(), values.end(), data.get());
    return nb::cast(to_numpy<T>(std::move(data), shape));
}

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
    demand(blocks.shape(2) == 8 && n_columns <= blocks.shape(0) * 8, "blocks must have shape (n_blocks, n_rows, 8)");
    demand(n < (std::size_t{1} << 32), "a tree takes fewer than 2^32 rows");
    demand(target.shape(0) == n && (!weight || weight->shape(0) == n), "target and weight must have one entry per row");
    demand(codes.shape(0) == n_columns && categorical.shape(0) == n_columns && monotone.shape(0) == n_columns,
           "codes, categorical and monotone must have one entry per column");
    demand(classes >= 2 && phi >= 0 && phi <= 5, "classes or phi out of range");
    demand(phi != static_cast<int>(Phi::callback) || !function.is_none(), "a user's phi needs its function");
    for (std::size_t i = 0; i < n; ++i) demand(target(i) < classes, "a target code is not below the count of classes");
    for (std::size_t j = 0; j < n_columns; ++j) demand(codes(j) >= 1 && codes(j) <= 255, "codes must lie in 1..255");
    demand(codes_fit(blocks.data(), n, {codes.data(), n_columns}), "a code is beyond the codes of its column");
    Rows<Sum> rows{blocks.data(),
                   n,
                   n_columns,
                   target.data(),
                   weight ? weight->data() : nullptr,
                   classes,
                   counted,
                   {codes.data(), codes.data() + n_columns}};
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
    options.poll = interrupt_poll();
    Tree tree;
    {
        nb::gil_scoped_release release;
        tree = grow(rows, impurity, options);
    }
    return as_dict(tree, classes);
}

Column column_of(nb::handle array) {
    using Any = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
    auto values = nb::cast<Any>(array, false);
    Column column{Column::Type::float64, values.data(), 0};
    std::ptrdiff_t size = 8;
    if (values.dtype() == nb::dtype<float>()) {
        column.type = Column::Type::float32;
        size = 4;
    } else if (values.dtype() == nb::dtype<std::int32_t>()) {
        column.type = Column::Type::int32;
        size = 4;
    } else {
        demand(values.dtype() == nb::dtype<double>(), "a column must be float64, float32 or int32");
    }
    column.stride = values.stride(0) * size;
    return column;
}

nb::object bind_find_leaves(In1<std::int32_t> left, In1<std::int32_t> right, In1<std::int32_t> node_column,
                            In1<double> threshold, In1<std::int8_t> test, In2<std::uint8_t> left_set,
                            In1<std::uint8_t> code_of_category, In1<std::int64_t> category_begin, int other,
                            nb::list columns, std::size_t n_rows, int threads) {
    const std::size_t nodes = left.shape(0);
    demand(right.shape(0) == nodes && node_column.shape(0) == nodes && threshold.shape(0) == nodes &&
               test.shape(0) == nodes && left_set.shape(0) == nodes && left_set.shape(1) == 32,
           "the arrays of a tree must have one entry per node");
    demand(category_begin.shape(0) == columns.size() + 1, "category_begin must have one entry per column and one more");
    std::vector<Column> views;
    for (nb::handle column : columns) {
        demand(nb::len(column) == n_rows, "every column must have one entry per row");
        views.push_back(column_of(column));
    }
    for (std::size_t k = 0; k < nodes; ++k) {
        if (left(k) < 0) continue;
        const auto j = static_cast<std::size_t>(node_column(k));
        demand(left(k) > static_cast<int>(k) && right(k) > static_cast<int>(k) &&
                   static_cast<std::size_t>(std::max(left(k), right(k))) < nodes,
               "children must follow their parent");
        demand(j < views.size(), "a node tests a column that is not there");
        demand((views[j].type == Column::Type::int32) == (test(k) == 2), "a test does not fit its column");
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
