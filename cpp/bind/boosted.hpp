// What the bindings of boosted trees share: records that keep the NumPy arrays they look into.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "common/arrays.hpp"
#include "losses/table.hpp"
#include "trees/boosted/bundles.hpp"
#include "trees/boosted/fit.hpp"

namespace permissible::boosted {  // not anonymous: nanobind distinguishes types by their names

/// Codes together with the NumPy array that they look into.
struct BoundCodes {
    BoundCodes(In3<uint8_t> blocks, std::size_t n_columns, int threads, bool by_column) : blocks(blocks) {
        require(blocks.shape(2) == 8 && blocks.shape(0) == (n_columns + 7) / 8,
                "`blocks` must have shape (n_blocks, n_rows, 8) for these columns");
        require(blocks.shape(1) < (std::size_t{1} << 32), "boosted trees take fewer than 2^32 rows");
        nb::gil_scoped_release free;
        codes = Codes(blocks.data(), blocks.shape(1), n_columns, threads, by_column);
    }
    nb::object hashes(In1<uint64_t> numbers, int threads) const {
        require(numbers.shape(0) == codes.columns(), "`numbers` must have one entry per column");
        const std::vector<uint32_t> found = [&] {
            const nb::gil_scoped_release free;
            return codes.hashes(numbers.data(), threads);
        }();
        return nb::cast(array_of(found, {found.size()}));
    }
    In3<uint8_t> blocks;
    Codes codes;
};

/// Of each column: categorical or not, number of bins, missing values or not, monotone direction.
inline std::vector<Column> columns_of(const In2<int32_t>& layout) {
    require(layout.shape(1) == 4, "`layout` must have 4 columns");
    std::vector<Column> columns;
    for (std::size_t j = 0; j < layout.shape(0); ++j) {
        const int32_t* row = layout.data() + 4 * j;
        require(row[1] >= 0 && row[1] <= (row[0] ? 254 : 255), "a column has at most 255 bins, a categorical one 254");
        columns.push_back({row[1], row[0] != 0, row[2] != 0, row[3]});
    }
    return columns;
}

/// A code beyond the bins of its column would be counted outside of the histogram.
inline void demand_codes(const Codes& codes, const std::vector<Column>& columns) {
    require(codes.columns() == columns.size(), "`layout` and the codes disagree");
    require(codes.fit(columns), "a code is beyond the bins of its column");
}

using MaybeCopies = std::optional<In1<int32_t>>;
using MaybeFloats = std::optional<In1<float>>;

/// Rows of a fit with the arrays that they look into.
class BoundRows {
  public:
    BoundRows(std::shared_ptr<BoundCodes> codes, In1<uint16_t> target, std::size_t classes, const std::string& loss,
              double parameter, std::shared_ptr<const rules::LossTable> table, MaybeCopies copies, MaybeFloats weight,
              std::optional<In1<uint32_t>> hashes)
        : codes_(std::move(codes)), target_(target), copies_(copies), weight_(weight), hashes_(hashes) {
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
        if (hashes) rows.hash = hashes->data();
    }
    FitRows rows;

  private:
    std::shared_ptr<BoundCodes> codes_;
    In1<uint16_t> target_;
    MaybeCopies copies_;
    MaybeFloats weight_;
    std::optional<In1<uint32_t>> hashes_;
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

struct Fitted {
    Trees trees;
    FitResult result;
};

/// Calls a fit with a function that watches for signals and asks the callback.
template <class Fit>
Fitted watched(const nb::object& callback, Fit run) {
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
        fitted.result = run(std::function<bool(int)>(watch));
    }
    if (signalled) throw nb::python_error();
    FitResult& found = fitted.result;
    fitted.trees = {std::move(found.splits), std::move(found.first_split), std::move(found.values), found.outputs};
    return fitted;
}

inline void demand_options(const FitOptions& options, std::size_t columns) {
    require(options.tree.max_leaf_nodes >= 1 && options.tree.max_leaf_nodes <= kMostLeaves, "leaves must be 1 to 256");
    require(options.column_fraction >= 1.0 || options.numbers.size() == columns, "columns are drawn by their numbers");
    for (const auto& group : options.tree.interactions)
        require(group.size() == columns, "an interaction group has one flag per column");
}

}  // namespace permissible::boosted
