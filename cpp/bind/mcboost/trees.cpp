// Bindings of trees and rules: what a part of the rows answers, and how they are grown where the rows
// are in other parts; the scores of trees.
#include "bind/boosted.hpp"
#include "bind/mcboost/mcboost.hpp"
#include "mcboost/tree_rows.hpp"
#include "predict/forest.hpp"

namespace permissible::mcboost {

namespace {

using Splits = In2<int64_t>;
constexpr std::size_t kFields = 8;  // parent, test, cut, column, and four words of a set

std::vector<boosted::Split> splits_of(const Splits& rows, std::size_t columns) {
    require(rows.shape(1) == kFields && rows.shape(0) < boosted::kMostLeaves, "splits must be (fewer than 256, 8)");
    std::vector<boosted::Split> splits;
    for (std::size_t s = 0; s < rows.shape(0); ++s) {
        const int64_t* row = rows.data() + s * kFields;
        require(row[0] >= 0 && row[0] <= static_cast<int64_t>(s) && row[1] >= 0 && row[1] <= 2 && row[2] >= 0 &&
                    row[2] <= 255 && row[3] >= 0 && row[3] < static_cast<int64_t>(columns),
                "a split is out of range");
        boosted::Split split;
        split.parent = static_cast<uint8_t>(row[0]), split.test = static_cast<boosted::Test>(row[1]);
        split.cut = static_cast<uint8_t>(row[2]), split.column = static_cast<int>(row[3]);
        for (int k = 0; k < 4; ++k) split.set[k] = static_cast<uint64_t>(row[4 + k]);
        splits.push_back(split);
    }
    return splits;
}

nb::tuple tuple_of(const Shape& tree) {
    std::vector<int64_t> rows;
    for (const boosted::Split& split : tree.splits) {
        rows.insert(rows.end(), {split.parent, static_cast<int64_t>(split.test), split.cut, split.column});
        for (const uint64_t word : split.set) rows.push_back(static_cast<int64_t>(word));
    }
    return nb::make_tuple(array_of(rows, {tree.splits.size(), kFields}), tree.inside);
}

/// The rows with the array that their codes look into.
struct BoundTreeRows {
    In3<uint8_t> blocks;
    TreeRows rows;
    In1<uint32_t> hash{};  // where it is kept elsewhere

    Shape shape(const Splits& splits, int inside) const {
        Shape tree{splits_of(splits, rows.columns().size()), inside};
        require(inside >= -1 && inside <= static_cast<int>(tree.splits.size()), "no such leaf");
        return tree;
    }
    const double* steps(const Shape& tree, const In2<double>& step) const {
        require(step.shape(0) == tree.leaves() && step.shape(1) == rows.scores.classes(), "a step per leaf and class");
        return step.data();
    }
    std::vector<uint8_t> flags(const In1<uint8_t>& used) const {
        require(used.shape(0) == rows.columns().size(), "`used` must have one flag per column");
        return {used.data(), used.data() + used.shape(0)};
    }
};

BoundTreeRows* make_rows(In3<uint8_t> blocks, In2<int32_t> layout, In1<uint64_t> numbers, In1<uint16_t> target,
                         In2<double> costs, bool shared, In1<double> weight, int loss, int threads, bool by_column) {
    const std::size_t n = target.shape(0), m = costs.shape(1);
    std::vector<boosted::Column> columns = boosted::columns_of(layout);
    require(blocks.shape(2) == 8 && blocks.shape(0) == (columns.size() + 7) / 8 && blocks.shape(1) == n,
            "`blocks` must have shape (n_blocks, n_rows, 8) for these columns");
    require(n < (std::size_t{1} << 32), "trees take fewer than 2^32 rows");
    require(weight.shape(0) == n && m >= 2 && m <= 65535 && costs.shape(0) == (shared ? m : n),
            "costs must be (M, M) when shared, else (n, M), and weight one per row");
    require(loss >= 0 && loss <= 4, "loss must be 0..4");
    require(numbers.shape(0) == 0 || numbers.shape(0) == columns.size(), "`numbers` must have one entry per column");
    for (std::size_t i = 0; i < n; ++i) require(target(i) < m, "target must be a class index");
    nb::gil_scoped_release release;
    boosted::Codes codes(blocks.data(), n, columns.size(), threads, by_column);
    require(codes.fit(columns), "a code is beyond the bins of its column");
    std::vector<uint32_t> hash;
    if (numbers.shape(0)) hash = codes.hashes(numbers.data(), threads);
    RowScores scores(static_cast<Loss>(loss), m, {target.data(), target.data() + n}, costs.data(), shared,
                     weight.data());
    return new BoundTreeRows{
        blocks, TreeRows(std::move(scores), std::move(codes), std::move(columns), std::move(hash), threads)};
}

nb::tuple take(BoundTreeRows& of, Splits splits, int inside, nb::object step, In1<double> along, bool coordinate,
               bool sampled, uint32_t key, float mu) {
    const Shape tree = of.shape(splits, inside);
    const double* steps = step.is_none() ? nullptr : of.steps(tree, nb::cast<In2<double>>(step));
    require(along.shape(0) == of.rows.scores.classes(), "`along` must have one value per class");
    require(!sampled || of.rows.hashed(), "sampled rows need hashes");
    const Outlook outlook{{{along.data(), along.data() + along.shape(0)}, coordinate}, sampled, key, mu};
    Seen seen;
    {
        nb::gil_scoped_release release;
        seen = of.rows.take(tree, steps, outlook);
    }
    return nb::make_tuple(seen.terms.gradient, seen.terms.curvature, seen.gradient, seen.curvature, seen.taken);
}

auto measure(const BoundTreeRows& of) {
    MeasureSums sums;
    {
        nb::gil_scoped_release release;
        sums = of.rows.measure();
    }
    return limbs_of({&sums.surrogate, &sums.cost, &sums.error});
}

auto step_sums(const BoundTreeRows& of, Splits splits, int inside, bool coordinate, double gradient_grid,
               double curvature_grid) {
    const Shape tree = of.shape(splits, inside);
    StepSums sums(0, 0);
    {
        nb::gil_scoped_release release;
        sums = of.rows.step_sums(tree, gradient_grid, curvature_grid);
    }
    sums.gradient.insert(sums.gradient.end(), sums.curvature.begin(), sums.curvature.end());
    const std::size_t outputs = of.rows.scores.outputs(coordinate);
    require(sums.gradient.size() == 2 * tree.leaves() * outputs, "look along the same direction first");
    return array_of(sums.gradient, {2, tree.leaves(), outputs});
}

auto slope_sums(const BoundTreeRows& of, Splits splits, int inside, In2<double> step, double alpha) {
    const Shape tree = of.shape(splits, inside);
    const double* steps = of.steps(tree, step);
    LineSums sums;
    {
        nb::gil_scoped_release release;
        sums = of.rows.slopes(tree, steps, alpha);
    }
    return limbs_of({&sums.first, &sums.second});
}

nb::tuple grow_here(BoundTreeRows& of, const boosted::TreeOptions& options, In1<uint8_t> used) {
    const std::vector<uint8_t> flags = of.flags(used);
    Shape tree;
    {
        nb::gil_scoped_release release;
        tree = of.rows.grow(options, flags);
    }
    return tuple_of(tree);
}

auto cells(const BoundTreeRows& of, Splits splits, int wanted, In1<uint8_t> used) {
    const std::vector<boosted::Split> known = splits_of(splits, of.rows.columns().size());
    const std::vector<uint8_t> flags = of.flags(used);
    std::vector<int64_t> found(of.rows.cells());
    {
        nb::gil_scoped_release release;
        of.rows.sum(known, static_cast<uint8_t>(wanted), flags, found.data());
    }
    return array_of(found, {found.size()});
}

/// Codes, gradient, curvature and copies (empty: 1 each) of the rows searched.
nb::tuple searched(const BoundTreeRows& of) {
    const TreeRows::Searched rows = of.rows.searched();
    const std::size_t n = rows.codes.rows(), blocks = rows.codes.n_blocks();
    auto codes = std::make_unique_for_overwrite<uint8_t[]>(std::max<std::size_t>(8 * n * blocks, 1));
    for (std::size_t b = 0; b < blocks; ++b)
        std::copy_n(rows.codes.block(b), n, reinterpret_cast<uint64_t*>(codes.get()) + b * n);
    std::vector<float> gradient(rows.gradient, rows.gradient + n), curvature(rows.curvature, rows.curvature + n);
    std::vector<int32_t> copies(rows.copies.empty() ? 0 : n);
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i] = rows.times(i);
    return nb::make_tuple(to_numpy<uint8_t>(std::move(codes), {blocks, n, std::size_t{8}}), array_of(gradient, {n}),
                          array_of(curvature, {n}), array_of(copies, {copies.size()}));
}

/// A tree of rows that were gathered here, in blocks that may have room for more; `packed` are their gradients and
/// curvatures on the grids.
nb::tuple grow_gathered(In3<uint8_t> blocks, In1<int64_t> packed, In2<int32_t> layout,
                        const boosted::TreeOptions& options, In1<uint8_t> used, double gradient_grid,
                        double curvature_grid) {
    boosted::Grower grower(boosted::columns_of(layout), options);
    require(used.shape(0) == layout.shape(0), "`used` must have one flag per column");
    require(blocks.shape(1) >= packed.shape(0) && blocks.shape(0) == (layout.shape(0) + 7) / 8 && blocks.shape(2) == 8,
            "`blocks` must have one row per gradient");
    nb::gil_scoped_release release;
    const bool few = packed.shape(0) < (1 << 18);  // codes of more rows are not copied
    const boosted::Codes codes(blocks.data(), packed.shape(0), layout.shape(0), options.threads, few, blocks.shape(1));
    boosted::SearchRows rows;
    rows.codes = &codes, rows.packed = packed.data();
    rows.gradient_grid = gradient_grid, rows.curvature_grid = curvature_grid;
    boosted::Tree tree = grower.grow(rows, {used.data(), used.data() + used.shape(0)});
    nb::gil_scoped_acquire hold;
    return tuple_of({std::move(tree.splits), tree.inside});
}

/// A tree of rows that are in other parts: `ask(splits, leaf)` gives the cells of a leaf.
nb::tuple grow_asked(const nb::callable& ask, In2<int32_t> layout, const boosted::TreeOptions& options,
                     In1<uint8_t> used, double gradient_grid, double curvature_grid) {
    boosted::Grower grower(boosted::columns_of(layout), options);
    require(used.shape(0) == layout.shape(0), "`used` must have one flag per column");
    boosted::SearchRows rows;
    rows.gradient_grid = gradient_grid, rows.curvature_grid = curvature_grid;
    rows.sum = [&](const std::vector<boosted::Split>& splits, uint8_t wanted, int64_t* to) {
        const auto found = nb::cast<In1<int64_t>>(ask(tuple_of({splits, -1})[0], static_cast<int>(wanted)));
        require(found.shape(0) == grower.cells(), "cells of other columns");
        std::copy(found.data(), found.data() + found.shape(0), to);
    };
    boosted::Tree tree = grower.grow(rows, {used.data(), used.data() + used.shape(0)});
    return tuple_of({std::move(tree.splits), tree.inside});
}

nb::ndarray<nb::numpy, double> scores_of(const BoundTreeRows& of) {
    const std::size_t n = of.rows.scores.rows(), m = of.rows.scores.classes();
    auto out = std::make_unique_for_overwrite<double[]>(n * m);
    of.rows.scores.scores(out.get());
    return to_numpy(std::move(out), {n, m});
}

nb::ndarray<nb::numpy, double> save(const BoundTreeRows& of) {
    const std::size_t n = of.rows.scores.rows(), fields = of.rows.scores.fields();
    auto out = std::make_unique_for_overwrite<double[]>(n * fields);
    of.rows.scores.save(out.get());
    return to_numpy(std::move(out), {n, fields});
}

nb::ndarray<nb::numpy, double> score_trees(In3<uint8_t> blocks, int columns, In1<int32_t> column, In1<int32_t> left,
                                           In1<int32_t> right, In2<uint8_t> mask, In1<int32_t> first_node,
                                           In1<int32_t> first_value, In1<int32_t> coordinate, In1<double> value,
                                           int outputs, int begin, int end, int threads) {
    require(mask.shape(1) == 32 && mask.shape(0) == column.shape(0), "mask must be (nodes, 32)");
    require(left.shape(0) == column.shape(0) && right.shape(0) == column.shape(0), "two children per node");
    require(first_node.shape(0) == coordinate.shape(0) + 1 && first_value.shape(0) == coordinate.shape(0) + 1,
            "one start per tree and one end");
    require(blocks.shape(2) == 8 && columns >= 0 && static_cast<size_t>(columns) <= blocks.shape(0) * 8 && outputs >= 1,
            "blocks must be (n_blocks, n, 8)");
    require(begin >= 0 && end <= static_cast<int>(coordinate.shape(0)) && begin <= end, "no such trees");
    const std::size_t n = blocks.shape(1);
    auto f = std::make_unique<double[]>(n * outputs);
    std::fill(f.get(), f.get() + n * outputs, 0.0);
    const Codes codes{blocks.data(), n, columns, nullptr, nullptr};
    Forest forest{column.data(), left.data(), right.data(), mask.data(), first_node.data(), first_value.data()};
    forest.coordinate = coordinate.data(), forest.value = value.data();
    forest.trees = static_cast<int>(coordinate.shape(0)), forest.outputs = outputs;
    {
        nb::gil_scoped_release release;
        add_trees(codes, forest, begin, end, threads, f.get());
    }
    return to_numpy(std::move(f), {n, static_cast<size_t>(outputs)});
}

}  // namespace

void bind_trees(nb::module_& area) {
    nb::class_<BoundTreeRows>(area, "TreeRows", "Coded rows with their scores, for trees and rules.")
        .def_prop_ro("rows", [](const BoundTreeRows& of) { return of.rows.scores.rows(); })
        .def("set_scores",
             [](BoundTreeRows& of, In2<double> scores) {
                 require(scores.shape(0) == of.rows.scores.rows() && scores.shape(1) == of.rows.scores.classes(),
                         "scores must be (n, M)");
                 of.rows.scores.set_scores(scores.data());
             })
        .def("scores", &scores_of)
        .def("save", &save)
        .def("hash", [](const BoundTreeRows& of) { return array_of(of.rows.hash(), {of.rows.hash().size()}); })
        .def(
            "borrow_hash",
            [](BoundTreeRows& of, In1<uint32_t> hash) {
                require(hash.shape(0) == of.rows.hash().size(), "`hash` must be that of these rows");
                of.hash = hash;
                of.rows.borrow_hash(hash.data());
            },
            nb::arg("hash").noconvert())
        .def("drop", [](BoundTreeRows& of) { of.rows.drop(); })
        .def("restore",
             [](BoundTreeRows& of, In2<double> saved) {
                 require(saved.shape(0) == of.rows.scores.rows() && saved.shape(1) == of.rows.scores.fields(),
                         "not the state of these rows");
                 of.rows.scores.restore(saved.data());
             })
        .def("take", &take, nb::arg("splits").noconvert(), nb::arg("inside"), nb::arg("step").none(),
             nb::arg("along").noconvert(), nb::arg("coordinate"), nb::arg("sampled"), nb::arg("key"), nb::arg("mu"))
        .def("measure", &measure)
        .def("sum_of_roots", [](const BoundTreeRows& of, float largest) { return of.rows.sum_of_roots(largest); })
        .def("sizes",
             [](const BoundTreeRows& of, double gradient_grid, double curvature_grid) {
                 const SearchSizes found =
                     of.rows.sizes(static_cast<float>(gradient_grid), static_cast<float>(curvature_grid));
                 return nb::make_tuple(found.gradient, found.curvature);
             })
        .def("pack", [](BoundTreeRows& of, double g, double h) { of.rows.pack(g, h); })
        .def("searched", &searched)
        .def("grow", &grow_here, nb::arg("options"), nb::arg("used").noconvert())
        .def("cells", &cells, nb::arg("splits").noconvert(), nb::arg("wanted"), nb::arg("used").noconvert())
        .def("step_sums", &step_sums, nb::arg("splits").noconvert(), nb::arg("inside"), nb::arg("coordinate"),
             nb::arg("gradient_grid"), nb::arg("curvature_grid"))
        .def("slopes", &slope_sums, nb::arg("splits").noconvert(), nb::arg("inside"), nb::arg("step").noconvert(),
             nb::arg("alpha"));
    area.def("tree_rows", &make_rows, nb::arg("blocks").noconvert(), nb::arg("layout").noconvert(),
             nb::arg("names").noconvert(), nb::arg("target").noconvert(), nb::arg("costs").noconvert(),
             nb::arg("shared"), nb::arg("weight").noconvert(), nb::arg("loss"), nb::arg("threads"),
             nb::arg("by_column") = true, nb::rv_policy::take_ownership);
    area.def("grow_asked", &grow_asked, nb::arg("ask"), nb::arg("layout").noconvert(), nb::arg("options"),
             nb::arg("used").noconvert(), nb::arg("gradient_grid"), nb::arg("curvature_grid"));
    area.def("grow_gathered", &grow_gathered, nb::arg("blocks").noconvert(), nb::arg("packed").noconvert(),
             nb::arg("layout").noconvert(), nb::arg("options"), nb::arg("used").noconvert(), nb::arg("gradient_grid"),
             nb::arg("curvature_grid"));
    area.def("score_trees", &score_trees, nb::arg("blocks").noconvert(), nb::arg("columns"),
             nb::arg("column").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
             nb::arg("mask").noconvert(), nb::arg("first_node").noconvert(), nb::arg("first_value").noconvert(),
             nb::arg("coordinate").noconvert(), nb::arg("value").noconvert(), nb::arg("outputs"), nb::arg("begin"),
             nb::arg("end"), nb::arg("threads"));
}

}  // namespace permissible::mcboost
