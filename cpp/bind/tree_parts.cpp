// Bindings of growth over parts: move rows, count histograms of many nodes, choose a cut from a histogram.
#include "bind/tree_parts.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "common/arrays.hpp"
#include "common/codes.hpp"
#include "trees/find_split.hpp"
#include "trees/node_rows.hpp"

namespace permissible::trees {
namespace {

void require_codes(const In1<std::int32_t>& codes, std::size_t n_columns) {
    require(codes.shape(0) == n_columns, "codes must have one entry per column");
    for (std::size_t j = 0; j < n_columns; ++j) require(codes(j) >= 1 && codes(j) <= 255, "codes must lie in 1..255");
}

std::vector<std::int32_t> slots_of(In1<std::int32_t> nodes) {
    std::int32_t most = -1;
    for (std::size_t s = 0; s < nodes.shape(0); ++s) {
        require(nodes(s) >= 0, "nodes must not be negative");
        most = std::max(most, nodes(s));
    }
    std::vector<std::int32_t> slots(most + 1, -1);
    for (std::size_t s = 0; s < nodes.shape(0); ++s) slots[nodes(s)] = static_cast<std::int32_t>(s);
    return slots;
}

void bind_move(In3<std::uint8_t> blocks, Out1<std::int32_t> node_of_row, In1<std::int32_t> nodes,
               In1<std::int32_t> columns, In2<std::uint8_t> left_sets, In1<std::int32_t> left,
               In1<std::int32_t> right) {
    const std::size_t n = nodes.shape(0);
    require(blocks.shape(2) == 8 && node_of_row.shape(0) == blocks.shape(1), "node_of_row must have one entry per row");
    require(columns.shape(0) == n && left.shape(0) == n && right.shape(0) == n && left_sets.shape(0) == n &&
                left_sets.shape(1) == 32,
            "a cut needs a column, a set and two children");
    std::vector<Move> cut;
    for (std::size_t s = 0; s < n; ++s) {
        require(columns(s) >= 0 && static_cast<std::size_t>(columns(s)) < blocks.shape(0) * 8, "no such column");
        require(left(s) > nodes(s) && right(s) > nodes(s), "children must have larger numbers than their node");
        cut.push_back({columns(s), left(s), right(s), left_sets.data() + s * 32});
    }
    const auto slots = slots_of(nodes);
    nb::gil_scoped_release release;
    move_rows({blocks.data(), blocks.shape(1)}, node_of_row.data(), slots, cut);
}

nb::tuple bind_histograms(In3<std::uint8_t> blocks, std::size_t n_columns, In1<std::uint16_t> target, int classes,
                          std::optional<In1<std::int64_t>> weight, bool counted, In1<std::int32_t> codes,
                          In1<std::int32_t> node_of_row, In1<std::int32_t> wanted, int threads) {
    const std::size_t n = blocks.shape(1), slots = wanted.shape(0);
    require(blocks.shape(2) == 8 && n_columns <= blocks.shape(0) * 8, "blocks must have shape (n_blocks, n_rows, 8)");
    require(target.shape(0) == n && node_of_row.shape(0) == n && (!weight || weight->shape(0) == n),
            "target, weight and node_of_row must have one entry per row");
    require_codes(codes, n_columns);
    require(classes >= 2, "there must be two classes or more");
    const Codes view{blocks.data(), n, static_cast<int>(n_columns), nullptr, codes.data()};
    require(codes_fit(view), "a code is beyond the codes of its column");
    for (std::size_t i = 0; i < n; ++i) require(target(i) < classes, "a target code is not below the count of classes");
    const ClassRows<std::int64_t> rows{view, target.data(), weight ? weight->data() : nullptr, classes, counted};
    const std::size_t size = histogram_offsets(rows).back();
    auto histograms = std::make_unique<std::int64_t[]>(std::max<std::size_t>(slots * size, 1));
    auto counts = std::make_unique<std::int64_t[]>(std::max<std::size_t>(slots, 1));
    const auto slot_of_node = slots_of(wanted);
    {
        nb::gil_scoped_release release;
        fill_histograms(rows, node_of_row.data(), slot_of_node, slots, histograms.get(), counts.get(), threads);
    }
    return nb::make_tuple(to_numpy<std::int64_t>(std::move(histograms), {slots, size}),
                          to_numpy<std::int64_t>(std::move(counts), {slots}));
}

nb::object bind_choose(In1<std::int64_t> histogram, In1<std::int64_t> totals, int classes, double unit, bool counted,
                       In1<std::int32_t> codes, In1<std::uint8_t> categorical, In1<std::int8_t> monotone, int phi,
                       double parameter, nb::object function, double min_samples, double min_weight, double min_gain,
                       double low, double high, int threads) {
    const std::size_t n_columns = codes.shape(0);
    require(categorical.shape(0) == n_columns && monotone.shape(0) == n_columns && classes >= 2,
            "codes, categorical and monotone must have one entry per column");
    require_codes(codes, n_columns);
    Impurity impurity{static_cast<Phi>(phi), parameter, {}};
    if (impurity.phi == Phi::callback) impurity.user = user_phi(function);
    Options options;
    options.limits = {min_samples, min_weight, min_gain};
    options.unit = unit;
    options.threads = threads;
    options.categorical.assign(categorical.data(), categorical.data() + n_columns);
    options.monotone.assign(monotone.data(), monotone.data() + n_columns);
    SplitFinder<std::int64_t> finder({codes.data(), codes.data() + n_columns}, classes, counted, impurity, options);
    require(histogram.shape(0) == finder.size() && totals.shape(0) == static_cast<std::size_t>(finder.channels()),
            "histogram or totals of the wrong size");
    const std::vector<std::int64_t> sums(totals.data(), totals.data() + totals.shape(0));
    NodeFindings choice;
    {
        nb::gil_scoped_release release;
        choice = finder.find_split(histogram.data(), sums, low, high);
    }
    if (choice.cut.column < 0) return nb::none();
    auto set = std::make_unique<std::uint8_t[]>(32);
    for (int k = 0; k < 256; ++k) set[k / 8] |= choice.goes_left[k] << (k % 8);
    auto left = std::make_unique<std::int64_t[]>(sums.size());
    std::copy(choice.left_totals.begin(), choice.left_totals.end(), left.get());
    return nb::make_tuple(choice.cut.gain, coarse(choice.cut.gain), choice.cut.column, static_cast<int>(choice.test),
                          choice.test == Test::numeric ? choice.cut.code : -1,
                          to_numpy<std::uint8_t>(std::move(set), {32}),
                          to_numpy<std::int64_t>(std::move(left), {sums.size()}));
}

/// sums: (classes, n) class weights.
nb::object bind_impurities(In2<double> sums, int phi, double parameter, nb::object function) {
    const std::size_t n = sums.shape(1);
    Impurity impurity{static_cast<Phi>(phi), parameter, {}};
    if (impurity.phi == Phi::callback) impurity.user = user_phi(function);
    auto values = std::make_unique<double[]>(std::max<std::size_t>(n, 1));
    impurities(impurity, sums.data(), n, static_cast<int>(sums.shape(0)), n, values.get());
    return nb::cast(to_numpy<double>(std::move(values), {n}));
}

}  // namespace

void define_parts(nb::module_& area) {
    area.def("move_rows", &bind_move, nb::arg("blocks").noconvert(), nb::arg("node_of_row").noconvert(),
             nb::arg("nodes").noconvert(), nb::arg("columns").noconvert(), nb::arg("left_sets").noconvert(),
             nb::arg("left").noconvert(), nb::arg("right").noconvert());
    area.def("part_histograms", &bind_histograms, nb::arg("blocks").noconvert(), nb::arg("n_columns"),
             nb::arg("target").noconvert(), nb::arg("classes"), nb::arg("weight").noconvert().none(),
             nb::arg("counted"), nb::arg("codes").noconvert(), nb::arg("node_of_row").noconvert(),
             nb::arg("wanted").noconvert(), nb::arg("threads"));
    area.def("node_impurities", &bind_impurities, nb::arg("sums").noconvert(), nb::arg("phi"), nb::arg("parameter"),
             nb::arg("function").none());
    area.def("choose_cut", &bind_choose, nb::arg("histogram").noconvert(), nb::arg("totals").noconvert(),
             nb::arg("classes"), nb::arg("unit"), nb::arg("counted"), nb::arg("codes").noconvert(),
             nb::arg("categorical").noconvert(), nb::arg("monotone").noconvert(), nb::arg("phi"), nb::arg("parameter"),
             nb::arg("function").none(), nb::arg("min_samples"), nb::arg("min_weight"), nb::arg("min_gain"),
             nb::arg("low"), nb::arg("high"), nb::arg("threads"));
}

}  // namespace permissible::trees
