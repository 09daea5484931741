// Bindings of the trees area: exact dtypes, sizes checked, the GIL released, no copies of the rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "common/arrays.hpp"
#include "common/codes.hpp"
#include "common/interrupt.hpp"
#include "predict/tree.hpp"
#include "trees/grow.hpp"
#include "trees/node_rows.hpp"

namespace permissible::trees {
namespace {

/// phi of the user: probabilities in, (phi - a) / b out, one call for all the splits of a node.
UserPhi user_phi(nb::object function) {
    return [function](const double* probability, std::size_t count, double* out) {
        nb::gil_scoped_acquire gil;
        auto copy = std::make_unique<double[]>(count);
        std::copy(probability, probability + count, copy.get());
        nb::object answer = function(to_numpy<double>(std::move(copy), {count}));
        auto values = nb::cast<In1<double>>(answer, false);
        require(values.shape(0) == count, "an impurity must return one value for each probability");
        std::copy(values.data(), values.data() + count, out);
    };
}

Impurity make_impurity(const std::string& phi, double parameter, nb::object function, bool joint,
                       const std::optional<In2<double>>& costs) {
    static constexpr const char* names[] = {"logistic", "matsushita", "squared", "power", "logcosh", "user"};
    const auto found = std::find(std::begin(names), std::end(names), phi);
    require(found != std::end(names), "there is no compiled impurity of this name");
    Impurity impurity{static_cast<Phi>(found - std::begin(names)), parameter, {}, joint, {}};
    if (costs) {
        require(costs->shape(0) == costs->shape(1) && costs->shape(0) > 1, "costs must be classes x classes");
        impurity.costs.assign(costs->data(), costs->data() + costs->shape(0) * costs->shape(1));
    }
    require(impurity.phi != Phi::callback || !function.is_none(), "a user's phi needs its function");
    if (impurity.phi == Phi::callback) impurity.user = user_phi(function);
    return impurity;
}

/// When growth stops; -1: no limit.
struct GrowthLimits {
    std::int64_t max_leaf_nodes, max_depth;
    Limits leaf;
};

/// The layout of the columns.
struct Columns {
    std::vector<std::int32_t> codes;
    std::vector<std::uint8_t> categorical;
    std::vector<std::int8_t> monotone;

    Columns(In1<std::int32_t> n_codes, In1<std::uint8_t> is_categorical, In1<std::int8_t> directions)
        : codes(n_codes.data(), n_codes.data() + n_codes.shape(0)),
          categorical(is_categorical.data(), is_categorical.data() + is_categorical.shape(0)),
          monotone(directions.data(), directions.data() + directions.shape(0)) {
        require(categorical.size() == codes.size() && monotone.size() == codes.size(),
                "codes, categorical and monotone must have one entry per column");
        for (const std::int32_t count : codes) require(count >= 1 && count <= 255, "codes must lie in 1..255");
    }
};

/// Rows with their classes and weights: counts (int32) or multiples of a unit (int64). The arrays are borrowed.
struct RowArrays {
    using Weight = std::optional<std::variant<In1<std::int32_t>, In1<std::int64_t>>>;
    In3<std::uint8_t> blocks;
    In1<std::uint16_t> target;
    Weight weight;
    std::vector<std::int32_t> codes;
    int classes;
    bool counted;
    bool mapped = false;  // the codes lie in a file, and their pages are given back after a visit

    RowArrays(In3<std::uint8_t> rows, const Columns& columns, In1<std::uint16_t> labels, Weight weights, int n_classes,
              bool count_rows)
        : blocks(rows),
          target(labels),
          weight(std::move(weights)),
          codes(columns.codes),
          classes(n_classes),
          counted(count_rows) {
        const std::size_t n = blocks.shape(1);
        require(blocks.shape(2) == 8 && codes.size() <= blocks.shape(0) * 8,
                "blocks must have shape (n_blocks, n_rows, 8)");
        const auto size = [](const auto& of) { return of.shape(0); };
        require(target.shape(0) == n && (!weight || std::visit(size, *weight) == n),
                "target and weight must have one entry per row");
        require(classes >= 2, "there must be two classes or more");
        for (std::size_t i = 0; i < n; ++i)
            require(target(i) < classes, "a target code is not below the count of classes");
        require(codes_fit(view()), "a code is beyond the codes of its column");
    }

    Codes view() const {
        return {blocks.data(), blocks.shape(1), static_cast<int>(codes.size()), nullptr, codes.data()};
    }
    bool has_units() const { return weight && std::holds_alternative<In1<std::int64_t>>(*weight); }
    template <typename Sum>
    ClassRows<Sum> rows() const {
        return {view(), target.data(), weight ? std::get<In1<Sum>>(*weight).data() : nullptr, classes, counted};
    }
};

template <typename Sum>
RowBlocks<Sum> blocks_of(const std::vector<const RowArrays*>& arrays, MappedPages& pages) {
    RowBlocks<Sum> blocks;
    std::size_t n = 0;
    for (const RowArrays* of : arrays) {
        blocks.push_back(of->rows<Sum>());
        blocks.back().first = static_cast<std::uint32_t>(std::exchange(n, n + of->blocks.shape(1)));
        if (of->mapped) blocks.back().pages = &pages, pages.include(of->blocks.data(), of->blocks.size());
    }
    require(n < (std::size_t{1} << 32), "a tree takes fewer than 2^32 rows");
    return blocks;
}

std::vector<std::int32_t> slots_of(const std::vector<std::int32_t>& nodes) {
    std::int32_t most = -1;
    for (const std::int32_t node : nodes) {
        require(node >= 0, "nodes must not be negative");
        most = std::max(most, node);
    }
    std::vector<std::int32_t> slots(most + 1, -1);
    for (std::size_t s = 0; s < nodes.size(); ++s) slots[nodes[s]] = static_cast<std::int32_t>(s);
    return slots;
}

/// splits: (n, 4) node, column, left and right child.
void bind_move(In3<std::uint8_t> blocks, Out1<std::int32_t> node_of_row, In2<std::int32_t> splits,
               In2<std::uint8_t> left_sets) {
    const std::size_t n = splits.shape(0);
    require(blocks.shape(2) == 8 && node_of_row.shape(0) == blocks.shape(1), "node_of_row must have one entry per row");
    require(splits.shape(1) == 4 && left_sets.shape(0) == n && left_sets.shape(1) == 32,
            "a split needs a node, a column, two children and a set");
    std::vector<Move> moves;
    std::vector<std::int32_t> nodes;
    for (std::size_t s = 0; s < n; ++s) {
        const std::int32_t node = splits(s, 0), column = splits(s, 1), left = splits(s, 2), right = splits(s, 3);
        require(column >= 0 && static_cast<std::size_t>(column) < blocks.shape(0) * 8, "no such column");
        require(left > node && right > node, "children must have larger numbers than their node");
        moves.push_back({column, left, right, left_sets.data() + s * 32});
        nodes.push_back(node);
    }
    const auto slots = slots_of(nodes);
    nb::gil_scoped_release release;
    move_rows({blocks.data(), blocks.shape(1)}, node_of_row.data(), slots, moves);
}

/// Histograms of the requested nodes, and the number of rows of each.
nb::tuple node_sums(const RowArrays& arrays, In1<std::int32_t> node_of_row, In1<std::int32_t> requested, int threads) {
    require(!arrays.weight || arrays.has_units(), "sums of nodes take weights of 64 bits");
    require(node_of_row.shape(0) == arrays.blocks.shape(1), "node_of_row must have one entry per row");
    const ClassRows<std::int64_t> rows = arrays.rows<std::int64_t>();
    const std::size_t slots = requested.shape(0), size = histogram_offsets(rows).back();
    auto histograms = std::make_unique<std::int64_t[]>(std::max<std::size_t>(slots * size, 1));
    auto counts = std::make_unique<std::int64_t[]>(std::max<std::size_t>(slots, 1));
    const auto slot_of_node = slots_of({requested.data(), requested.data() + slots});
    {
        nb::gil_scoped_release release;
        fill_histograms(rows, node_of_row.data(), slot_of_node, slots, histograms.get(), counts.get(), threads);
    }
    return nb::make_tuple(to_numpy<std::int64_t>(std::move(histograms), {slots, size}),
                          to_numpy<std::int64_t>(std::move(counts), {slots}));
}

struct GrownTree {
    Tree tree;
    std::size_t classes;
};

struct BestSplit {
    double gain, rank;
    int column, test, code;
    CodeSet left_set{};
    std::vector<std::int64_t> left_totals;
};

/// What is fixed while a tree grows, and the best split of a node from its histogram.
class Finder {
  public:
    Finder(const Columns& columns, int classes, double unit, bool counted, const Impurity& impurity,
           const GrowthLimits& limits, int threads)
        : impurity_(impurity),
          options_(options_of(columns, unit, limits, threads)),
          classes_(classes),
          finder_({columns.codes.begin(), columns.codes.end()}, classes, counted, impurity_, options_) {
        require(classes >= 2, "there must be two classes or more");
    }
    Finder(const Finder&) = delete;  // finder_ refers to the members above it

    std::optional<BestSplit> best(In1<std::int64_t> histogram, In1<std::int64_t> totals, double low, double high) {
        require(histogram.shape(0) == finder_.size() && totals.shape(0) == static_cast<size_t>(finder_.channels()),
                "histogram or totals of the wrong size");
        NodeFindings found;
        {
            nb::gil_scoped_release release;
            found = finder_.find_split(histogram.data(), {totals.data(), totals.data() + totals.shape(0)}, low, high);
        }
        if (found.cut.column < 0) return std::nullopt;
        BestSplit split{found.cut.gain, coarse(found.cut.gain), found.cut.column, static_cast<int>(found.test),
                        found.test == Test::numeric ? found.cut.code : -1};
        for (int k = 0; k < 256; ++k)
            if (found.goes_left[k]) insert(split.left_set, k);
        split.left_totals = std::move(found.left_totals);
        return split;
    }

    GrownTree grow_rows(const std::vector<const RowArrays*>& arrays, bool name_leaves) const {
        require(!arrays.empty(), "a tree needs rows");
        for (const RowArrays* of : arrays)
            require(of->classes == classes_ && of->codes.size() == options_.categorical.size(),
                    "rows of other classes or columns");
        Options options = options_;
        options.name_leaves = name_leaves;
        options.poll = [interrupt = Interrupt()]() mutable { interrupt.poll(); };
        MappedPages pages;
        nb::gil_scoped_release release;
        Tree tree = arrays[0]->has_units() ? grow(blocks_of<std::int64_t>(arrays, pages), impurity_, options)
                                           : grow(blocks_of<std::int32_t>(arrays, pages), impurity_, options);
        return {std::move(tree), static_cast<std::size_t>(classes_)};
    }

    /// sums: (classes, n) class weights.
    auto node_impurities(In2<double> sums) const {
        const std::size_t n = sums.shape(1);
        auto values = std::make_unique<double[]>(std::max<std::size_t>(n, 1));
        impurities(impurity_, sums.data(), n, static_cast<int>(sums.shape(0)), n, values.get());
        return to_numpy<double>(std::move(values), {n});
    }

  private:
    Impurity impurity_;
    Options options_;
    int classes_;
    SplitFinder<std::int64_t> finder_;

    static Options options_of(const Columns& columns, double unit, const GrowthLimits& limits, int threads) {
        Options options;
        options.max_leaf_nodes = limits.max_leaf_nodes;
        options.max_depth = limits.max_depth;
        options.limits = limits.leaf;
        options.unit = unit;
        options.threads = threads;
        options.categorical = columns.categorical;
        options.monotone = columns.monotone;
        return options;
    }
};

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
    Nodes tree{nodes, left.data(), right.data(), node_column.data(), threshold.data()};
    tree.test = test.data(), tree.left_set = left_set.data(), tree.other = other;
    tree.code_of_category = code_of_category.data(), tree.category_begin = category_begin.data();
    auto leaf = std::make_unique<std::int32_t[]>(std::max<std::size_t>(n_rows, 1));
    {
        nb::gil_scoped_release release;
        find_leaves(tree, views, n_rows, leaf.get(), threads);
    }
    return nb::cast(to_numpy<std::int32_t>(std::move(leaf), {n_rows}));
}

/// Arrays of records are copies, so that a model which keeps them does not keep the record.
constexpr auto own = nb::rv_policy::move;

void define_records(nb::module_& area) {
    nb::class_<Impurity>(area, "Impurity")
        .def(
            "__init__",
            [](Impurity* self, const std::string& phi, double parameter, nb::object function, bool joint,
               const std::optional<In2<double>>& costs) {
                new (self) Impurity(make_impurity(phi, parameter, function, joint, costs));
            },
            nb::arg("phi"), nb::arg("parameter") = 0.0, nb::arg("function").none() = nb::none(),
            nb::arg("joint") = false, nb::arg("costs").none() = nb::none());
    nb::class_<GrowthLimits>(area, "Limits")
        .def(
            "__init__",
            [](GrowthLimits* self, std::optional<std::int64_t> max_leaf_nodes, std::optional<std::int64_t> max_depth,
               double min_samples, double min_weight, double min_gain) {
                new (self) GrowthLimits{
                    max_leaf_nodes.value_or(-1), max_depth.value_or(-1), {min_samples, min_weight, min_gain}};
            },
            nb::arg("max_leaf_nodes").none(), nb::arg("max_depth").none(), nb::arg("min_samples") = 1.0,
            nb::arg("min_weight") = 0.0, nb::arg("min_gain") = 0.0);
    nb::class_<Columns>(area, "Columns")
        .def(nb::init<In1<std::int32_t>, In1<std::uint8_t>, In1<std::int8_t>>(), nb::arg("n_codes").noconvert(),
             nb::arg("categorical").noconvert(), nb::arg("monotone").noconvert());
    nb::class_<RowArrays>(area, "Rows")
        .def(nb::init<In3<std::uint8_t>, const Columns&, In1<std::uint16_t>, RowArrays::Weight, int, bool>(),
             nb::arg("blocks").noconvert(), nb::arg("columns"), nb::arg("target").noconvert(),
             nb::arg("weight").noconvert().none(), nb::arg("classes"), nb::arg("counted") = false)
        .def_rw("mapped", &RowArrays::mapped)
        .def("sums", &node_sums, nb::arg("node_of_row").noconvert(), nb::arg("requested").noconvert(),
             nb::arg("threads"));
    nb::class_<BestSplit>(area, "BestSplit")
        .def_ro("gain", &BestSplit::gain)
        .def_ro("rank", &BestSplit::rank)
        .def_ro("column", &BestSplit::column)
        .def_ro("test", &BestSplit::test)
        .def_ro("code", &BestSplit::code)
        .def_prop_ro(
            "left_set", [](const BestSplit& split) { return array_of(split.left_set); }, own)
        .def_prop_ro("left_totals", [](const BestSplit& split) { return array_of(split.left_totals); }, own);
}

template <auto Member>
void define_array(nb::class_<GrownTree>& type, const char* name) {
    type.def_prop_ro(name, [](const GrownTree& grown) { return array_of(grown.tree.*Member); }, own);
}

void define_tree(nb::module_& area) {
    nb::class_<GrownTree> type(area, "Tree");
    define_array<&Tree::left>(type, "left");
    define_array<&Tree::right>(type, "right");
    define_array<&Tree::column>(type, "column");
    define_array<&Tree::code>(type, "code");
    define_array<&Tree::test>(type, "test");
    define_array<&Tree::value>(type, "impurity");
    define_array<&Tree::samples>(type, "samples");
    define_array<&Tree::split_order>(type, "split_order");
    define_array<&Tree::gain>(type, "gain");
    define_array<&Tree::leaf_of_row>(type, "leaf_of_row");
    type.def_prop_ro(
        "left_set",
        [](const GrownTree& grown) {
            std::vector<std::uint8_t> sets;
            for (const CodeSet& set : grown.tree.left_set) sets.insert(sets.end(), set.begin(), set.end());
            return array_of(sets, {grown.tree.left_set.size(), 32});
        },
        own);
    type.def_prop_ro(
        "weight",
        [](const GrownTree& grown) {
            return array_of(grown.tree.sums, {grown.tree.sums.size() / grown.classes, grown.classes});
        },
        own);
}

}  // namespace
}  // namespace permissible::trees

void bind_trees(nanobind::module_& area) {
    namespace nb = nanobind;
    using namespace permissible::trees;
    area.doc() = "Growth of decision trees and descent through them.";
    define_records(area);
    define_tree(area);
    nb::class_<Finder>(area, "SplitFinder", "What is fixed while a tree grows; splits of nodes, and whole trees.")
        .def(nb::init<const Columns&, int, double, bool, const Impurity&, const GrowthLimits&, int>(),
             nb::arg("columns"), nb::arg("classes"), nb::arg("unit"), nb::arg("counted"), nb::arg("impurity"),
             nb::arg("limits"), nb::arg("threads") = 1)
        .def("best", &Finder::best, nb::arg("histogram").noconvert(), nb::arg("totals").noconvert(), nb::arg("low"),
             nb::arg("high"))
        .def("grow", &Finder::grow_rows, nb::arg("blocks"), nb::arg("name_leaves") = false)
        .def("impurities", &Finder::node_impurities, nb::arg("sums").noconvert());
    area.def("move_rows", &bind_move, nb::arg("blocks").noconvert(), nb::arg("node_of_row").noconvert(),
             nb::arg("splits").noconvert(), nb::arg("left_sets").noconvert());
    area.def("find_leaves", &bind_find_leaves, nb::arg("left").noconvert(), nb::arg("right").noconvert(),
             nb::arg("node_column").noconvert(), nb::arg("threshold").noconvert(), nb::arg("test").noconvert(),
             nb::arg("left_set").noconvert(), nb::arg("code_of_category").noconvert(),
             nb::arg("category_begin").noconvert(), nb::arg("other"), nb::arg("columns"), nb::arg("n_rows"),
             nb::arg("threads"));
}
