// Bindings of boosted trees: records with named fields, exact dtypes, sizes checked, the GIL released, no copies of the
// rows.
#include "bind/boosted.hpp"

using namespace permissible;
using nb::literals::operator""_a;

void bind_boosted_parts(nb::module_& area);

namespace permissible::boosted {

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

/// While it lives, rows are coded by bundles of columns, where there are some that exclude each other.
class Bundled {
  public:
    Bundled(FitRows& rows, FitRows* held_out, const std::vector<Column>& given, const FitOptions& options)
        : columns(given) {
        const bool free = std::all_of(given.begin(), given.end(), [](const Column& c) { return c.monotone == 0; });
        if (!options.bundle || !free || !options.tree.interactions.empty()) return;
        std::vector<FitRows*> all{&rows};
        if (held_out) all.push_back(held_out);
        std::vector<const Codes*> codes;
        for (const FitRows* part : all) codes.push_back(part->codes);
        const std::vector<std::vector<int>> groups = find_bundles(codes, given);
        if (groups.empty()) return;
        columns = bundled(given, groups);
        codes_.reserve(all.size());
        for (FitRows* part : all) {
            before_.emplace_back(part, part->codes);
            codes_.emplace_back(*part->codes, groups, options.threads);
            part->codes = &codes_.back();
        }
    }
    ~Bundled() {
        for (const auto& [part, codes] : before_) part->codes = codes;
    }
    Bundled(const Bundled&) = delete;
    Bundled& operator=(const Bundled&) = delete;
    std::vector<Column> columns;

  private:
    std::vector<Codes> codes_;
    std::vector<std::pair<FitRows*, const Codes*>> before_;
};

Fitted bound_fit(BoundRows& rows, BoundRows* held_out, const In2<int32_t>& layout, const FitOptions& options,
                 nb::object callback) {
    const std::vector<Column> columns = columns_of(layout);
    demand_codes(*rows.rows.codes, columns);
    demand_options(options, columns.size());
    require(!held_out || (held_out->rows.codes->columns() == columns.size() &&
                          held_out->rows.scores->outputs() == rows.rows.scores->outputs()),
            "held-out rows must have the same columns and classes");
    return watched(callback, [&](const std::function<bool(int)>& watch) {
        FitRows* const held = held_out ? &held_out->rows : nullptr;
        const Bundled bundles(rows.rows, held, columns, options);
        Part part(rows.rows, held, options.threads);
        return fit(part, facts_of(rows.rows, held), *rows.rows.scores, bundles.columns, options, watch);
    });
}

/// One tree grown on given gradients and curvatures, for a loss that is not compiled.
Trees grow_tree(const BoundCodes& codes, const In2<int32_t>& layout, In1<float> gradient, In1<float> curvature,
                MaybeCopies copies, In1<uint8_t> used, const TreeOptions& options) {
    const std::vector<Column> columns = columns_of(layout);
    const std::size_t n = codes.codes.rows();
    demand_codes(codes.codes, columns);
    require(codes.codes.by_column(), "a search needs codes by column");
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
        .def_rw("rule", &TreeOptions::rule)
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
        .def_rw("numbers", &FitOptions::numbers)
        .def_rw("search_rows", &FitOptions::search_rows)
        .def_rw("seed", &FitOptions::seed)
        .def_rw("patience", &FitOptions::patience)
        .def_rw("rival", &FitOptions::rival)
        .def_rw("rival_trees", &FitOptions::rival_trees)
        .def_rw("fit_constant", &FitOptions::fit_constant)
        .def_rw("track_loss", &FitOptions::track_loss)
        .def_rw("bundle", &FitOptions::bundle)
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
        .def(nb::init<In3<uint8_t>, std::size_t, int, bool>(), "blocks"_a.noconvert(), "n_columns"_a, "threads"_a = 1,
             "by_column"_a = true)
        .def("hashes", &BoundCodes::hashes, "numbers"_a.noconvert(), "threads"_a = 1)
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
        .def_prop_ro("largest_gain", [](const Fitted& f) { return f.result.largest_gain; })
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
    area.def("grow_tree", &grow_tree, "codes"_a, "layout"_a.noconvert(), "gradient"_a.noconvert(),
             "curvature"_a.noconvert(), "copies"_a.noconvert().none(), "used"_a.noconvert(), "options"_a);
    bind_boosted_parts(area);
}
