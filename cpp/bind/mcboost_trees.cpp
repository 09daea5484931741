// Bindings of rounds of trees and rules, and of the scores of trees.
#include "bind/mcboost.hpp"
#include "common/mixing.hpp"
#include "mcboost/stumps.hpp"
#include "predict/forest.hpp"

namespace permissible::mcboost {

namespace {

/// The trees of a round as flat arrays.
struct RoundTrees {
    std::vector<int32_t> column, code, left, right, first_node{0}, first_value{0}, coordinate;
    std::vector<uint8_t> mask;
    std::vector<double> value;
    double edge = -1;     // the largest of the trees
    bool capped = false;  // whether a line search found no finite minimum

    void add(const Tree& tree, int on_coordinate, double rate, const LineSearch& line) {
        column.insert(column.end(), tree.column.begin(), tree.column.end());
        code.insert(code.end(), tree.code.begin(), tree.code.end());
        left.insert(left.end(), tree.left.begin(), tree.left.end());
        right.insert(right.end(), tree.right.begin(), tree.right.end());
        for (const auto& bits : tree.mask) mask.insert(mask.end(), bits.begin(), bits.end());
        for (const double v : tree.value) value.push_back(rate * line.leverage * v);
        first_node.push_back(static_cast<int32_t>(column.size()));
        first_value.push_back(static_cast<int32_t>(value.size()));
        coordinate.push_back(on_coordinate);
        edge = std::max(edge, tree.edge);
        capped = capped || line.capped;
    }

    nb::dict arrays() const {
        nb::dict out;
        out["column"] = array_of(column, {column.size()});
        out["code"] = array_of(code, {code.size()});
        out["left"] = array_of(left, {left.size()});
        out["right"] = array_of(right, {right.size()});
        out["mask"] = array_of(mask, {column.size(), 32});
        out["first_node"] = array_of(first_node, {first_node.size()});
        out["first_value"] = array_of(first_value, {first_value.size()});
        out["coordinate"] = array_of(coordinate, {coordinate.size()});
        out["value"] = array_of(value, {value.size()});
        return out;
    }
};

constexpr LineSearch kWholeStep{1.0, false, 0};

/// What a round of trees needs in addition to the state.
struct TreeRound {
    const Codes& codes;
    TreeLimits growth;
    const double* share;
    double rate;
    bool exact;
    const Bundles* bundles;
};

// A tree for every coordinate in turn.
void add_by_coordinate(State& state, TreeRound round, RoundTrees& made) {
    const std::size_t n = state.rows();
    const uint64_t seed = round.growth.seed;
    Interrupt interrupt;
    std::vector<int32_t> leaf;
    const bool packed = !round.exact && packed_stump_applies(round.codes, round.growth, round.share != nullptr, n);
    if (!packed) require_within_bins(round.codes);  // packed cells have room for every code
    for (int r = 0; r < state.classes() - 1; ++r) {
        state.derive(r);
        round.growth.seed = seed * kGolden + static_cast<uint64_t>(r) + 1;
        if (packed) {
            const Tree tree = grow_packed_stump(round.codes, round.bundles, state, round.growth, 1, state.sides(r));
            const double values[2] = {tree.value.back(), tree.value.front()};  // by the flag "goes left"
            state.advance_two(r, values, round.rate);
            made.add(tree, r, round.rate, kWholeStep);
        } else {
            const Moments moments{
                state.gradient.data(), state.curvature.data(), state.weight.data(), round.share, n, 1};
            const Tree tree = grow(round.codes, moments, round.growth, state.threads(), leaf);
            for (std::size_t i = 0; i < n; ++i) state.step[i] = tree.value[leaf[i]];
            const LineSearch line = round.exact ? state.search(r) : kWholeStep;
            state.advance(r, round.rate * line.leverage);
            made.add(tree, r, round.rate, line);
        }
        interrupt.poll();
    }
    state.finish_round();
}

// One tree with a value for every coordinate (gradient descent): Newton steps, or with `exact` least squares in the
// norm |w| and one leverage.
void add_along_gradient(State& state, const TreeRound& round, RoundTrees& made) {
    const std::size_t n = state.rows();
    const int outputs = state.classes() - 1;
    std::vector<int32_t> leaf;
    state.derive_all(!round.exact);
    if (!round.exact && packed_stump_applies(round.codes, round.growth, round.share != nullptr, n)) {
        std::vector<uint8_t> side(n);
        const Tree stump = grow_packed_stump(round.codes, nullptr, state, round.growth, outputs, side.data());
        state.advance_two_all(side.data(), two_moves(state, stump, round.rate));
        made.add(stump, -1, round.rate, kWholeStep);
        return;
    }
    require_within_bins(round.codes);
    const Moments moments{state.gradient.data(), state.curvature.data(), state.weight.data(), round.share, n, outputs};
    const Tree tree = grow(round.codes, moments, round.growth, state.threads(), leaf);
    std::vector<double> f(n * outputs);
    for (int r = 0; r < outputs; ++r)
        for (std::size_t i = 0; i < n; ++i) f[r * n + i] = tree.value[leaf[i] * outputs + r];
    state.directions_from_step(f);
    const LineSearch line = round.exact ? state.search_all() : kWholeStep;
    state.advance_all(round.rate * line.leverage);
    made.add(tree, -1, round.rate, line);
}

RoundTrees round_trees(State& state, In3<uint8_t> blocks, In1<uint8_t> categorical, In1<int32_t> bins,
                       const TreeLimits& growth, nb::object share, double rate, bool exact, bool gradient,
                       const Bundles* bundles) {
    const std::size_t n = state.rows();
    require(blocks.shape(1) == n, "blocks must be (n_blocks, n, 8)");
    require(!bundles || bundles->made_of(n, static_cast<int>(bins.shape(0))), "bundles of other codes");
    const Codes codes = codes_of(blocks, categorical, bins);
    const TreeRound round{codes, growth, share_of(state, share), rate, exact, bundles};
    RoundTrees made;
    nb::gil_scoped_release release;
    if (gradient)
        add_along_gradient(state, round, made);
    else
        add_by_coordinate(state, round, made);
    return made;
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
    const Forest forest{column.data(),
                        left.data(),
                        right.data(),
                        mask.data(),
                        first_node.data(),
                        first_value.data(),
                        coordinate.data(),
                        value.data(),
                        static_cast<int>(coordinate.shape(0)),
                        outputs};
    {
        nb::gil_scoped_release release;
        add_trees(codes, forest, begin, end, threads, f.get());
    }
    return to_numpy(std::move(f), {n, static_cast<size_t>(outputs)});
}

}  // namespace

void bind_trees(nb::module_& area, nb::class_<State>& state) {
    nb::class_<TreeLimits>(area, "Growth", "How large a tree or rule may be, and how its tests are found.")
        .def(nb::init<int, int, int, double, double, bool, double, uint64_t>(), nb::kw_only(),
             nb::arg("max_leaf_nodes"), nb::arg("max_depth"), nb::arg("max_literals"), nb::arg("min_leaf_weight"),
             nb::arg("l2"), nb::arg("random_thresholds"), nb::arg("column_share"), nb::arg("seed"));
    nb::class_<RoundTrees>(area, "RoundTrees", "The trees of a round as the arrays of a forest.")
        .def_prop_ro("arrays", &RoundTrees::arrays)
        .def_ro("edge", &RoundTrees::edge)
        .def_ro("capped", &RoundTrees::capped);
    state.def("round_trees", &round_trees, nb::arg("blocks").noconvert(), nb::arg("categorical").noconvert(),
              nb::arg("bins").noconvert(), nb::arg("growth"), nb::kw_only(), nb::arg("share").none(), nb::arg("rate"),
              nb::arg("exact"), nb::arg("gradient"), nb::arg("bundles").none() = nb::none());
    nb::class_<Bundles>(area, "Bundles")
        .def(
            "__init__",
            [](Bundles* self, In3<uint8_t> blocks, In1<uint8_t> categorical, In1<int32_t> bins) {
                const Codes codes = codes_of(blocks, categorical, bins);
                for (int c = 0; c < codes.columns; ++c) require(!codes.categorical[c], "only numbers can be joined");
                require_within_bins(codes);
                new (self) Bundles(codes);
            },
            nb::arg("blocks").noconvert(), nb::arg("categorical").noconvert(), nb::arg("bins").noconvert());
    area.def("score_trees", &score_trees, nb::arg("blocks").noconvert(), nb::arg("columns"),
             nb::arg("column").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
             nb::arg("mask").noconvert(), nb::arg("first_node").noconvert(), nb::arg("first_value").noconvert(),
             nb::arg("coordinate").noconvert(), nb::arg("value").noconvert(), nb::arg("outputs"), nb::arg("begin"),
             nb::arg("end"), nb::arg("threads"));
}

}  // namespace permissible::mcboost
