// Bindings of boosted trees: records with named fields, exact dtypes, sizes checked, the GIL released, no copies of the
// rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <stdexcept>

#include "common/arrays.hpp"
#include "losses/table.hpp"
#include "trees/boosted/bundles.hpp"
#include "trees/boosted/fit.hpp"

using namespace permissible;
using nb::literals::operator""_a;

namespace permissible::boosted {  // not anonymous: nanobind tells types apart by their names

/// Codes together with the NumPy array that they look into.
struct BoundCodes {
    BoundCodes(In3<uint8_t> blocks, std::size_t n_columns, int threads) : blocks(blocks) {
        require(blocks.shape(2) == 8 && blocks.shape(0) == (n_columns + 7) / 8,
                "`blocks` must have shape (n_blocks, n_rows, 8) for these columns");
        require(blocks.shape(1) < (std::size_t{1} << 32), "boosted trees take fewer than 2^32 rows");
        nb::gil_scoped_release free;
        codes = Codes(blocks.data(), blocks.shape(1), n_columns, threads);
    }
    BoundCodes(Codes made, In3<uint8_t> blocks) : blocks(blocks), codes(std::move(made)) {}

    BoundCodes bundled(const std::vector<std::vector<int>>& bundles, int threads) const {
        for (const auto& bundle : bundles) {
            require(bundle.size() <= kMostMembers, "a bundle has too many columns");
            for (const int j : bundle)
                require(j >= 0 && static_cast<std::size_t>(j) < codes.columns(), "a bundle's column is not there");
        }
        nb::gil_scoped_release free;
        return {Codes(codes, bundles, threads), blocks};
    }
    nb::object hashes(In1<uint64_t> names, int threads) const {
        require(names.shape(0) == codes.columns(), "`names` must have one entry per column");
        std::vector<uint32_t> found;
        {
            nb::gil_scoped_release free;
            found = codes.hashes(names.data(), threads);
        }
        return nb::cast(array_of(found, {found.size()}));
    }
    In3<uint8_t> blocks;
    Codes codes;
};

/// Of each column: categorical or not, number of bins, missing values or not, monotone direction.
std::vector<Column> columns_of(const In2<int32_t>& layout) {
    require(layout.shape(1) == 4, "`layout` must have 4 columns");
    std::vector<Column> columns;
    for (std::size_t j = 0; j < layout.shape(0); ++j) {
        const int32_t* row = layout.data() + 4 * j;
        require(row[1] >= 0 && row[1] <= (row[0] ? 254 : 255), "a column has at most 255 bins, a categorical one 254");
        columns.push_back({row[1], row[0] != 0, row[2] != 0, row[3]});
    }
    return columns;
}

/// A code beyond the bins of its column would be counted where no cell is.
void demand_codes(const Codes& codes, const std::vector<Column>& columns) {
    require(codes.columns() == columns.size(), "`layout` and the codes disagree");
    for (std::size_t j = 0; j < columns.size(); ++j)
        require(codes.fit(j, columns[j]), "a code is beyond the bins of its column");
}

using MaybeCopies = std::optional<In1<int32_t>>;
using MaybeFloats = std::optional<In1<float>>;

/// Rows of a fit with the arrays that they look into.
class BoundRows {
  public:
    BoundRows(std::shared_ptr<BoundCodes> codes, In1<uint16_t> target, std::size_t classes, const std::string& loss,
              double parameter, std::shared_ptr<const rules::LossTable> table, MaybeCopies copies, MaybeFloats weight,
              std::optional<In1<uint32_t>> hashes)
        : codes_(std::move(codes)), target_(target), copies_(copies), weight_(weight) {
        const std::size_t n = codes_->codes.rows();
        require(target.shape(0) == n && (!copies || copies->shape(0) == n) && (!weight || weight->shape(0) == n) &&
                    (!hashes || hashes->shape(0) == n),
                "target, copies, weight and hashes must have one entry per row");
        require(classes >= 2 && classes <= 65535, "classes out of range");
        for (std::size_t i = 0; i < n; ++i) require(target(i) < classes, "a target is not below the count of classes");
        rows.codes = &codes_->codes;
        rows.labels = {n, target.data(), copies ? copies->data() : nullptr, weight ? weight->data() : nullptr};
        const rules::Functor functor{loss, parameter, std::move(table)};
        if (classes == 2)
            rows.scores = make_binary_scores(functor, rows.labels);
        else
            rows.scores = loss == "logistic" ? make_softmax_scores(rows.labels, classes)
                                             : make_class_scores(functor, rows.labels, classes);
        require(rows.scores != nullptr, "no compiled loss of this name");
        if (hashes) rows.hash.assign(hashes->data(), hashes->data() + n);
    }
    FitRows rows;

  private:
    std::shared_ptr<BoundCodes> codes_;
    In1<uint16_t> target_;
    MaybeCopies copies_;
    MaybeFloats weight_;
};

/// Trees as they come from a fit, or from the arrays of a stored model.
struct Trees {
    std::vector<Split> splits;
    std::vector<int32_t> first_split{0};
    std::vector<double> values;
    std::size_t outputs = 1;

    std::size_t count() const { return first_split.size() - 1; }
    Forest forest() const { return {splits.data(), first_split.data(), values.data(), outputs}; }

    template <typename T, class Field>
    nb::object column(Field field) const {
        std::vector<T> found;
        for (const Split& split : splits) found.push_back(static_cast<T>(field(split)));
        return nb::cast(array_of(found, {found.size()}));
    }
    nb::object sets() const {
        std::vector<uint64_t> found;
        for (const Split& split : splits) found.insert(found.end(), split.set.begin(), split.set.end());
        return nb::cast(array_of(found, {splits.size(), std::size_t{4}}));
    }
    void add(const BoundCodes& codes, std::size_t first, std::size_t last,
             nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores, int threads) const {
        require(first <= last && last <= count(), "there are fewer trees");
        require(scores.shape(0) == codes.codes.rows() && scores.shape(1) == outputs,
                "`scores` must have shape (n_rows, outputs)");
        require(values.size() == (splits.size() + count()) * outputs, "these trees have no values");
        for (const Split& split : splits)
            require(static_cast<std::size_t>(split.column) < codes.codes.columns(), "a split's column is not there");
        nb::gil_scoped_release free;
        add_trees(forest(), first, last, codes.codes, threads, scores.data());
    }
    nb::ndarray<nb::numpy, uint8_t> leaves(const BoundCodes& codes, std::size_t tree, int threads) const {
        require(tree < count(), "there are fewer trees");
        const std::size_t n = codes.codes.rows();
        auto leaf = std::make_unique<uint8_t[]>(std::max<std::size_t>(n, 1));
        {
            nb::gil_scoped_release free;
            const auto from = static_cast<std::size_t>(first_split[tree]);
            const auto many = static_cast<std::size_t>(first_split[tree + 1]) - from;
            over_rows(n, threads, [&](int, std::size_t begin, std::size_t end) {
                find_leaves(splits.data() + from, many, codes.codes, leaf.get(), begin, end);
            });
        }
        return to_numpy<uint8_t>(std::move(leaf), {n});
    }
};

struct SplitArrays {
    In1<uint8_t> parent, test, cut;
    In1<int32_t> column;
    In2<uint64_t> set;
    In1<double> gain;
    In1<int32_t> first_split;
    In2<double> values;
};

Trees trees_of(const SplitArrays& a) {
    const std::size_t n = a.parent.shape(0), ends = a.first_split.shape(0);
    require(a.test.shape(0) == n && a.cut.shape(0) == n && a.column.shape(0) == n && a.set.shape(0) == n &&
                a.set.shape(1) == 4 && a.gain.shape(0) == n,
            "the arrays of splits must have one entry per split");
    require(ends >= 1 && a.first_split(0) == 0 && a.first_split(ends - 1) == static_cast<int>(n),
            "`first_split` must begin at 0 and end at the count of splits");
    require(a.values.shape(0) == n + ends - 1 && a.values.shape(1) >= 1, "`values` must have one row per leaf");
    Trees trees;
    trees.outputs = a.values.shape(1);
    trees.values.assign(a.values.data(), a.values.data() + a.values.size());
    trees.first_split.assign(a.first_split.data(), a.first_split.data() + ends);
    for (std::size_t t = 0; t + 1 < ends; ++t) {
        const int from = a.first_split(t), to = a.first_split(t + 1);
        require(from <= to && to - from < kMostLeaves && to <= static_cast<int>(n), "a tree has at most 256 leaves");
        for (int s = from; s < to; ++s) {
            require(a.parent(s) <= s - from && a.test(s) <= 2 && a.column(s) >= 0, "a split is out of range");
            Split split{a.parent(s), static_cast<Test>(a.test(s)), a.cut(s), a.column(s), {}, a.gain(s)};
            for (std::size_t k = 0; k < 4; ++k) split.set[k] = a.set(s, k);
            trees.splits.push_back(split);
        }
    }
    return trees;
}

struct Fitted {
    Trees trees;
    FitResult result;
};

Fitted bound_fit(BoundRows& rows, BoundRows* held_out, const In2<int32_t>& layout, const FitOptions& options,
                 nb::object callback) {
    const std::vector<Column> columns = columns_of(layout);
    demand_codes(*rows.rows.codes, columns);
    require(options.tree.max_leaf_nodes >= 1 && options.tree.max_leaf_nodes <= kMostLeaves,
            "a tree has between 1 and 256 leaves");
    for (const auto& group : options.tree.interactions)
        require(group.size() == columns.size(), "an interaction group has one flag per column");
    require(!held_out || (held_out->rows.codes->columns() == columns.size() &&
                          held_out->rows.scores->outputs() == rows.rows.scores->outputs()),
            "held-out rows must have the same columns and classes");
    bool signalled = false;
    auto last = std::chrono::steady_clock::now();
    const auto watch = [&](int round) {
        const auto now = std::chrono::steady_clock::now();
        if (callback.is_none() && now - last < std::chrono::milliseconds(50)) return true;
        last = now;
        nb::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) {
            signalled = true;
            return false;
        }
        return callback.is_none() || nb::cast<bool>(callback(round));
    };
    Fitted fitted;
    {
        nb::gil_scoped_release free;
        fitted.result = fit(rows.rows, held_out ? &held_out->rows : nullptr, columns, options, watch);
    }
    if (signalled) throw nb::python_error();
    FitResult& found = fitted.result;
    fitted.trees = {std::move(found.splits), std::move(found.first_split), std::move(found.values), found.outputs};
    return fitted;
}

/// One tree grown on given gradients and curvatures, for a loss that is not compiled.
Trees grow_tree(const BoundCodes& codes, const In2<int32_t>& layout, In1<float> gradient, In1<float> curvature,
                MaybeCopies copies, In1<uint8_t> used, const TreeOptions& options) {
    const std::vector<Column> columns = columns_of(layout);
    const std::size_t n = codes.codes.rows();
    demand_codes(codes.codes, columns);
    require(gradient.shape(0) == n && curvature.shape(0) == n && (!copies || copies->shape(0) == n),
            "gradient, curvature and copies must have one entry per row");
    require(used.shape(0) == columns.size(), "`used` must have one flag per column");
    for (std::size_t i = 0; i < n; ++i) require(curvature(i) >= 0.0f, "a curvature is negative or missing");
    Trees trees;
    nb::gil_scoped_release free;
    PackedRows packed;
    packed.pack(gradient.data(), curvature.data(), nullptr, copies ? copies->data() : nullptr, n);
    const SearchRows rows{&codes.codes, packed.data(), packed.gradient_grid(), packed.curvature_grid(), packed.weight(),
                          1.0};
    trees.splits = Grower(columns, options).grow(rows, {used.data(), used.data() + columns.size()}).splits;
    trees.first_split.push_back(static_cast<int32_t>(trees.splits.size()));
    return trees;
}

void bind_records(nb::module_& area) {
    nb::class_<TreeOptions>(area, "TreeOptions")
        .def(nb::init<>())
        .def_rw("max_leaf_nodes", &TreeOptions::max_leaf_nodes)
        .def_rw("max_depth", &TreeOptions::max_depth)
        .def_rw("min_samples_leaf", &TreeOptions::min_samples_leaf)
        .def_rw("min_curvature", &TreeOptions::min_curvature)
        .def_rw("l2", &TreeOptions::l2)
        .def_rw("min_gain", &TreeOptions::min_gain)
        .def_rw("category_smoothing", &TreeOptions::category_smoothing)
        .def_rw("category_l2", &TreeOptions::category_l2)
        .def_rw("most_categories", &TreeOptions::most_categories)
        .def_rw("interactions", &TreeOptions::interactions)
        .def_rw("threads", &TreeOptions::threads);
    nb::class_<FitOptions>(area, "FitOptions")
        .def(nb::init<>())
        .def_rw("n_trees", &FitOptions::n_trees)
        .def_rw("tree", &FitOptions::tree)
        .def_prop_rw(
            "learning_rate", [](const FitOptions& o) { return o.step.learning_rate; },
            [](FitOptions& o, double rate) { o.step.learning_rate = rate; })
        .def_prop_rw(
            "l2", [](const FitOptions& o) { return o.step.l2; }, [](FitOptions& o, double l2) { o.step.l2 = l2; })
        .def_prop_rw(
            "exact", [](const FitOptions& o) { return o.step.exact; },
            [](FitOptions& o, bool exact) { o.step.exact = exact; })
        .def_rw("column_fraction", &FitOptions::column_fraction)
        .def_rw("search_rows", &FitOptions::search_rows)
        .def_rw("seed", &FitOptions::seed)
        .def_rw("patience", &FitOptions::patience)
        .def_rw("fit_constant", &FitOptions::fit_constant)
        .def_rw("track_loss", &FitOptions::track_loss)
        .def_rw("threads", &FitOptions::threads);
}

void bind_trees_record(nb::module_& area) {
    nb::class_<Trees>(area, "Trees")
        .def(
            "__init__",
            [](Trees* self, In1<uint8_t> parent, In1<uint8_t> test, In1<uint8_t> cut, In1<int32_t> column,
               In2<uint64_t> set, In1<double> gain, In1<int32_t> first_split, In2<double> values) {
                new (self) Trees(trees_of({parent, test, cut, column, set, gain, first_split, values}));
            },
            "parent"_a.noconvert(), "test"_a.noconvert(), "cut"_a.noconvert(), "column"_a.noconvert(),
            "set"_a.noconvert(), "gain"_a.noconvert(), "first_split"_a.noconvert(), "values"_a.noconvert())
        .def("__len__", &Trees::count)
        .def_ro("outputs", &Trees::outputs)
        .def_prop_ro("parent", [](const Trees& t) { return t.column<uint8_t>([](auto& s) { return s.parent; }); })
        .def_prop_ro("test", [](const Trees& t) { return t.column<uint8_t>([](auto& s) { return s.test; }); })
        .def_prop_ro("cut", [](const Trees& t) { return t.column<uint8_t>([](auto& s) { return s.cut; }); })
        .def_prop_ro("column", [](const Trees& t) { return t.column<int32_t>([](auto& s) { return s.column; }); })
        .def_prop_ro("gain", [](const Trees& t) { return t.column<double>([](auto& s) { return s.gain; }); })
        .def_prop_ro("set", &Trees::sets)
        .def_prop_ro("first_split",
                     [](const Trees& t) { return nb::cast(array_of(t.first_split, {t.first_split.size()})); })
        .def_prop_ro(
            "values",
            [](const Trees& t) { return nb::cast(array_of(t.values, {t.values.size() / t.outputs, t.outputs})); })
        .def("add", &Trees::add, "codes"_a, "first"_a, "last"_a, "scores"_a.noconvert(), "threads"_a = 1)
        .def("leaves", &Trees::leaves, "codes"_a, "tree"_a, "threads"_a = 1);
}

}  // namespace permissible::boosted

void bind_boosted(nb::module_& area) {
    using namespace permissible::boosted;
    area.doc() = "Boosted trees: growth, exact leaf values, the loop of a fit, prediction.";
    bind_records(area);
    bind_trees_record(area);
    nb::class_<BoundCodes>(area, "Codes")
        .def(nb::init<In3<uint8_t>, std::size_t, int>(), "blocks"_a.noconvert(), "n_columns"_a, "threads"_a = 1)
        .def("bundled", &BoundCodes::bundled, "bundles"_a, "threads"_a = 1)
        .def("hashes", &BoundCodes::hashes, "names"_a.noconvert(), "threads"_a = 1)
        .def_prop_ro("n_rows", [](const BoundCodes& c) { return c.codes.rows(); });
    nb::class_<BoundRows>(area, "Rows")
        .def(
            nb::init<std::shared_ptr<BoundCodes>, In1<uint16_t>, std::size_t, const std::string&, double,
                     std::shared_ptr<const rules::LossTable>, MaybeCopies, MaybeFloats, std::optional<In1<uint32_t>>>(),
            "codes"_a, "target"_a.noconvert(), "classes"_a = 2, "loss"_a = "logistic", "parameter"_a = 0.0,
            "table"_a = nb::none(), "copies"_a.noconvert() = nb::none(), "weight"_a.noconvert() = nb::none(),
            "hashes"_a.noconvert() = nb::none());
    nb::class_<Fitted>(area, "Fitted")
        .def_ro("trees", &Fitted::trees)
        .def_prop_ro("constant",
                     [](const Fitted& f) { return nb::cast(array_of(f.result.constant, {f.result.constant.size()})); })
        .def_prop_ro("loss", [](const Fitted& f) { return nb::cast(array_of(f.result.loss, {f.result.loss.size()})); })
        .def_prop_ro("held_out",
                     [](const Fitted& f) { return nb::cast(array_of(f.result.held_out, {f.result.held_out.size()})); })
        .def_prop_ro("searched",
                     [](const Fitted& f) { return nb::cast(array_of(f.result.searched, {f.result.searched.size()})); })
        .def_prop_ro("best_round", [](const Fitted& f) { return f.result.best_round; })
        .def_prop_ro("stop", [](const Fitted& f) { return static_cast<int>(f.result.stop); });
    area.def("fit", &bound_fit, "rows"_a, "held_out"_a.none(), "layout"_a.noconvert(), "options"_a,
             "callback"_a = nb::none());
    area.def(
        "find_bundles",
        [](const BoundCodes& codes, const In2<int32_t>& layout) {
            const std::vector<Column> columns = columns_of(layout);
            demand_codes(codes.codes, columns);
            nb::gil_scoped_release free;
            return find_bundles(codes.codes, columns);
        },
        "codes"_a, "layout"_a.noconvert());
    area.def("grow_tree", &grow_tree, "codes"_a, "layout"_a.noconvert(), "gradient"_a.noconvert(),
             "curvature"_a.noconvert(), "copies"_a.noconvert().none(), "used"_a.noconvert(), "options"_a);
}
