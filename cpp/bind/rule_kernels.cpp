// Bindings of the kernels that keep no rows: histograms of given weights, masks, the search, scores, losses.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>

#include "bind/rules.hpp"
#include "common/arrays.hpp"
#include "histogram/packed.hpp"
#include "losses/passes.hpp"
#include "losses/table.hpp"
#include "points/lines.hpp"
#include "predict/rules.hpp"
#include "rules/leverage.hpp"
#include "rules/refit/patterns.hpp"
#include "rules/refit/refit.hpp"
#include "rules/search/grow.hpp"

namespace permissible::rules {

using nb::literals::operator""_a;

namespace {

std::vector<Candidate> bound_best_literals(const In2<int32_t>& layout, const In3<int64_t>& sums,
                                           const Criterion& criterion, bool oriented, const std::vector<int>& used) {
    const auto layouts = layouts_of(layout);
    if (sums.shape(0) != layouts.size() || sums.shape(1) < (criterion.two_values ? 2u : 1u) || sums.shape(1) > 2 ||
        sums.shape(2) != 256) {
        throw std::invalid_argument("`sums` must have shape (n_columns, n_sums, 256)");
    }
    return best_literals(layouts, sums.data(), sums.shape(1), criterion, oriented, used);
}

/// The histogram of given weights (a user-defined loss).
nb::ndarray<nb::numpy, int64_t> bound_histogram(const In3<uint8_t>& blocks, std::size_t n_columns,
                                                const In1<float>& signed_weight, std::optional<In1<float>> curvature,
                                                std::optional<In1<float>> multiplicity,
                                                std::optional<In1<uint8_t>> mask, double weight_grid,
                                                double curvature_grid, double threshold, uint64_t seed,
                                                std::optional<In1<uint32_t>> hashes, int n_threads) {
    const std::size_t n_rows = blocks.shape(1), n_sums = curvature ? 2 : 1;
    const auto right = [n_rows](const auto& array) { return !array || array->shape(0) == n_rows; };
    if (blocks.shape(2) != 8 || blocks.shape(0) != (n_columns + 7) / 8 || signed_weight.shape(0) != n_rows ||
        !right(curvature) || !right(multiplicity) || !right(mask) || !right(hashes) || (threshold > 0.0 && !hashes)) {
        throw std::invalid_argument("blocks, weights and mask must speak of the same rows and columns");
    }
    const Codes codes{blocks.data(), n_rows, static_cast<int>(n_columns)};
    ArrayWeights weights;
    weights.signed_weight = signed_weight.data();
    weights.curvature = curvature ? curvature->data() : nullptr;
    weights.copies = multiplicity ? multiplicity->data() : nullptr;
    weights.weight_grid = weight_grid;
    weights.curvature_grid = curvature_grid;
    weights.draw = {hashes ? hashes->data() : nullptr, threshold, seed};
    const RowChoice choice{mask ? mask->data() : nullptr, 1};
    auto sums = std::make_unique<int64_t[]>(n_columns * n_sums * 256);
    {
        nb::gil_scoped_release free;
        histogram(codes, weights, choice, chunk_ends(n_rows, weights.copies), n_threads, sums.get());
    }
    return to_numpy(std::move(sums), {n_columns, n_sums, std::size_t{256}});
}

nb::ndarray<nb::numpy, uint8_t> bound_mask(const In3<uint8_t>& blocks, std::size_t n_columns, const nb::handle& rule) {
    if (blocks.shape(2) != 8 || blocks.shape(0) != (n_columns + 7) / 8) {
        throw std::invalid_argument("`blocks` must have shape (n_blocks, n_rows, 8) for these columns");
    }
    const std::size_t n_rows = blocks.shape(1);
    auto out = std::make_unique<uint8_t[]>(n_rows);
    mask_rows({blocks.data(), n_rows, static_cast<int>(n_columns)}, rule_of(rule, n_columns), 0, n_rows, out.get());
    return to_numpy(std::move(out), {n_rows});
}

void check_patterns(const In2<uint8_t>& bits, const In1<double>& derivatives) {
    if (derivatives.shape(0) != bits.shape(0)) throw std::invalid_argument("one derivative per pattern is needed");
}

nb::ndarray<nb::numpy, double> bound_pattern_gradient(const In2<uint8_t>& bits, const In1<double>& first) {
    check_patterns(bits, first);
    const std::size_t n = bits.shape(1) + 1;
    auto gradient = std::make_unique<double[]>(n);
    {
        nb::gil_scoped_release free;
        pattern_gradient(bits.data(), bits.shape(0), n - 1, first.data(), gradient.get());
    }
    return to_numpy(std::move(gradient), {n});
}

nb::ndarray<nb::numpy, double> bound_pattern_hessian(const In2<uint8_t>& bits, const In1<double>& second) {
    check_patterns(bits, second);
    const std::size_t n = bits.shape(1) + 1;
    auto hessian = std::make_unique<double[]>(n * n);
    {
        nb::gil_scoped_release free;
        pattern_hessian(bits.data(), bits.shape(0), n - 1, second.data(), hessian.get());
    }
    return to_numpy(std::move(hessian), {n, n});
}

/// `literals` are tuples (column, test, threshold, missing, members or None), `rules` lists of positions among them.
nb::ndarray<nb::numpy, double> bound_score(
    const nb::list& columns,
    const std::vector<std::tuple<int, int, double, bool, std::optional<In1<uint8_t>>>>& literals,
    const std::vector<std::vector<int>>& rules, const In1<double>& coefficients, double intercept, std::size_t n_rows,
    int n_threads) {
    if (coefficients.shape(0) != rules.size()) throw std::invalid_argument("one coefficient per rule is needed");
    const ColumnArrays arrays(columns);
    arrays.require_rows(n_rows);
    const auto& views = arrays.views;
    RuleSet set;
    set.intercept = intercept;
    set.rules = rules;
    for (const auto& [column, test, threshold, missing, members] : literals) {
        if (column < 0 || static_cast<std::size_t>(column) >= views.size() || test < 0 || test > 4) {
            throw std::invalid_argument("a literal names no column or no test");
        }
        const bool category = views[static_cast<std::size_t>(column)].type == ColumnType::category;
        if (category != members.has_value() || category != (test == 4)) {
            throw std::invalid_argument("a literal does not fit its column");
        }
        set.literals.push_back(
            {column, static_cast<ValueTest>(test), missing, threshold, members ? members->data() : nullptr});
    }
    for (const auto& rule : set.rules) {
        for (const int k : rule) {
            if (k < 0 || static_cast<std::size_t>(k) >= set.literals.size()) {
                throw std::invalid_argument("a rule names no literal");
            }
        }
    }
    set.fill_sums(coefficients.data());
    std::unique_ptr<double[]> score(new double[n_rows]);
    {
        nb::gil_scoped_release free;
        score_rows(views, set, n_rows, n_threads, score.get());
    }
    return to_numpy(std::move(score), {n_rows});
}

/// A built-in loss by name, for the coordinator of a readable loop and for the tests.
class LossFunction {
  public:
    LossFunction(const std::string& name, double parameter, std::shared_ptr<const LossTable> table)
        : passes_(make_passes({name, parameter, std::move(table)})) {
        if (!passes_) throw std::invalid_argument("no compiled loss of this name");
    }
    std::tuple<double, double, double> bounds(double low, double high, double reach) const {
        const Bounds found = passes_->bounds(low, high, reach);
        return {found.weight, found.curvature, found.value};
    }
    nb::ndarray<nb::numpy, double> at(const In1<double>& margin) const {
        const std::size_t n = margin.shape(0);
        auto out = std::make_unique<double[]>(4 * n);
        for (std::size_t i = 0; i < n; ++i) {
            out[4 * i] = passes_->value_of(margin.data()[i]);
            passes_->derivatives_of(margin.data()[i], out.get() + 4 * i + 1);
        }
        return to_numpy(std::move(out), {n, std::size_t{4}});
    }
    /// Offset, unit and loss of each card: see points/lines.hpp.
    nb::ndarray<nb::numpy, double> fit_lines(const In3<double>& weight, const In1<double>& ridge,
                                             const In2<double>& start) const {
        const std::size_t n_cards = weight.shape(0), n_totals = weight.shape(1);
        if (weight.shape(2) != 2 || ridge.shape(0) != n_cards || start.shape(0) != n_cards || start.shape(1) != 2) {
            throw std::invalid_argument("`weight`, `ridge` and `start` must speak of the same cards");
        }
        auto found = std::make_unique<double[]>(3 * n_cards);
        {
            nb::gil_scoped_release free;
            for (std::size_t card = 0; card < n_cards; ++card) {
                const double* first = start.data() + 2 * card;
                const Line line = fit_line(passes(), weight.data() + 2 * n_totals * card, n_totals, ridge.data()[card],
                                           first[0], first[1]);
                found[3 * card] = line.offset;
                found[3 * card + 1] = line.unit;
                found[3 * card + 2] = line.value;
            }
        }
        return to_numpy(std::move(found), {n_cards, std::size_t{3}});
    }

    /// The same for cards given by the points of their rules (a row each) over the patterns of the rules.
    nb::ndarray<nb::numpy, double> fit_cards(const In2<uint8_t>& bits, const In2<int64_t>& weight, double grid,
                                             const In2<int64_t>& points, double l2, double offset, double unit) const {
        const std::size_t n_cards = points.shape(0), n_rules = bits.shape(1);
        if (weight.shape(0) != bits.shape(0) || weight.shape(1) != 2 || points.shape(1) != n_rules) {
            throw std::invalid_argument("`bits`, `weight` and `points` must speak of the same rules");
        }
        for (std::size_t i = 0; i < n_cards * n_rules; ++i) {
            if (points.data()[i] < 0 || points.data()[i] > 1000000) {
                throw std::invalid_argument("`points` must be small whole numbers");
            }
        }
        auto found = std::make_unique<double[]>(3 * n_cards);
        {
            nb::gil_scoped_release free;
            for (std::size_t card = 0; card < n_cards; ++card) {
                const Line line = fit_card(passes(), {bits.data(), weight.data(), bits.shape(0), n_rules, grid},
                                           points.data() + card * n_rules, l2, offset, unit);
                found[3 * card] = line.offset;
                found[3 * card + 1] = line.unit;
                found[3 * card + 2] = line.value;
            }
        }
        return to_numpy(std::move(found), {n_cards, std::size_t{3}});
    }
    /// The refitted coefficients, the residual, and whether the minimum was found: see rules/refit/refit.hpp.
    nb::tuple refit(const In2<uint8_t>& bits, const In2<double>& weight, const In1<double>& theta,
                    const In1<bool>& refitted, double penalty, int max_steps) const {
        const std::size_t n = theta.shape(0);
        if (bits.shape(1) + 1 != n || weight.shape(0) != bits.shape(0) || weight.shape(1) != 2 ||
            refitted.shape(0) != n) {
            throw std::invalid_argument("`bits`, `weight`, `theta` and `refitted` must speak of the same rules");
        }
        auto moved = std::make_unique<double[]>(n);
        std::copy(theta.data(), theta.data() + n, moved.get());
        const std::vector<uint8_t> chosen(refitted.data(), refitted.data() + n);
        Refitted found;
        {
            nb::gil_scoped_release free;
            found = permissible::rules::refit(passes(), {bits.data(), weight.data(), bits.shape(0), n - 1},
                                              chosen.data(), penalty, max_steps, moved.get());
        }
        return nb::make_tuple(to_numpy(std::move(moved), {n}), found.residual, found.converged);
    }

    const LossPasses& passes() const { return *passes_; }

  private:
    std::unique_ptr<LossPasses> passes_;
};

}  // namespace

void bind_kernels(nb::module_& area) {
    nb::class_<Root>(area, "Root")
        .def(nb::init<>())
        .def("trials", &Root::trials, "remainder"_a)
        .def(
            "advance",
            [](Root& self, const std::vector<std::tuple<double, double, double>>& at, double remainder, double cap) {
                std::vector<Slopes> slopes;
                for (const auto& one : at) slopes.push_back(std::make_from_tuple<Slopes>(one));
                self.advance(slopes, remainder, cap);
            },
            "at"_a, "remainder"_a, "cap"_a)
        .def_rw("value", &Root::value)
        .def_rw("done", &Root::done)
        .def_ro("capped", &Root::capped)
        .def("retreat", &Root::retreat)
        .def_ro("passes", &Root::passes);
    nb::class_<LossTable>(area, "LossTable")
        .def(
            "__init__",
            [](LossTable* self, const In1<double>& breaks, const In2<double>& weight, const In1<double>& value,
               double unit, double largest_curvature) {
                const std::size_t n = value.shape(0);
                if (breaks.shape(0) != n + 1 || weight.shape(0) != n || weight.shape(1) != LossTable::kDegree + 1) {
                    throw std::invalid_argument("`breaks`, `weight` and `value` of a table disagree");
                }
                new (self) LossTable(breaks.data(), weight.data(), value.data(), n, unit, largest_curvature);
            },
            "breaks"_a.noconvert(), "weight"_a.noconvert(), "value"_a.noconvert(), "unit"_a, "largest_curvature"_a);
    nb::class_<LossFunction>(area, "LossFunction")
        .def(nb::init<const std::string&, double, std::shared_ptr<const LossTable>>(), "name"_a, "parameter"_a = 0.0,
             "table"_a = nb::none())
        .def("bounds", &LossFunction::bounds, "low_state"_a, "high_state"_a, "reach"_a)
        .def("at", &LossFunction::at, "margin"_a.noconvert())
        .def("fit_lines", &LossFunction::fit_lines, "weight"_a.noconvert(), "ridge"_a.noconvert(),
             "start"_a.noconvert())
        .def("fit_cards", &LossFunction::fit_cards, "bits"_a.noconvert(), "weight"_a.noconvert(), "grid"_a,
             "points"_a.noconvert(), "l2"_a, "offset"_a, "unit"_a)
        .def("refit", &LossFunction::refit, "bits"_a.noconvert(), "weight"_a.noconvert(), "theta"_a.noconvert(),
             "refitted"_a.noconvert(), "penalty"_a, "max_steps"_a)
        .def("state_of", [](const LossFunction& self, double margin) { return self.passes().state_of(margin); })
        .def_prop_ro("remainder", [](const LossFunction& self) { return self.passes().remainder(); })
        .def_prop_ro("cap", [](const LossFunction& self) { return self.passes().cap(); })
        .def_prop_ro("attained", [](const LossFunction& self) { return self.passes().attained(); });
    area.def("histogram", &bound_histogram, "blocks"_a.noconvert(), "n_columns"_a, "signed_weight"_a.noconvert(),
             "curvature"_a.noconvert().none(), "multiplicity"_a.noconvert().none(), "mask"_a.noconvert().none(),
             "weight_grid"_a, "curvature_grid"_a, "threshold"_a = 0.0, "seed"_a = 0,
             "hashes"_a.noconvert() = nb::none(), "n_threads"_a = 1);
    area.def("rule_mask", &bound_mask, "blocks"_a.noconvert(), "n_columns"_a, "rule"_a);
    area.def("pattern_gradient", &bound_pattern_gradient, "bits"_a.noconvert(), "first"_a.noconvert());
    area.def("pattern_hessian", &bound_pattern_hessian, "bits"_a.noconvert(), "second"_a.noconvert());
    area.def("score_rules", &bound_score, "columns"_a, "literals"_a, "rules"_a, "coefficients"_a.noconvert(),
             "intercept"_a, "n_rows"_a, "n_threads"_a = 1);
    area.def("pass_grid", &pass_grid, "largest"_a);
    area.def(
        "histogram_grids",
        [](double weight_bound, double curvature_bound, double total_units, bool two_sums) {
            const HistogramGrids grids = histogram_grids(weight_bound, curvature_bound, total_units, two_sums);
            return std::make_tuple(grids.weight, grids.curvature);
        },
        "weight_bound"_a, "curvature_bound"_a, "total_units"_a, "two_sums"_a);
    nb::class_<Criterion>(area, "Criterion")
        .def(nb::init<bool, double, double, double, int64_t, int64_t, double, uint64_t>(), "two_values"_a, "l2"_a,
             "weight_unit"_a, "curvature_unit"_a, "total_weight"_a, "total_curvature"_a, "noise"_a = 0.0, "seed"_a = 0)
        .def_ro("two_values", &Criterion::two_values)
        .def_ro("weight_unit", &Criterion::weight_unit)
        .def_ro("curvature_unit", &Criterion::curvature_unit)
        .def_ro("total_weight", &Criterion::total_weight)
        .def_ro("total_curvature", &Criterion::total_curvature)
        .def_ro("noise", &Criterion::noise)
        .def("decrease", &Criterion::decrease, "weight_in"_a, "curvature_in"_a)
        .def("draws",
             [](const Criterion& self, const In2<int32_t>& layout, std::size_t column, const In1<uint64_t>& literals) {
                 const uint64_t seed = column_draws(self.seed, layouts_of(layout).at(column).key);
                 std::vector<double> drawn(literals.shape(0));
                 for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = draw_of(seed, literals.data()[i]);
                 return array_of(drawn);
             })
        .def("after", [](const Criterion& self, const In2<int32_t>& layout, const nb::object& rule) {
            Criterion next = self;
            const auto layouts = layouts_of(layout);
            for (const LiteralMask& literal : rule_of(rule, layouts.size()))
                next.seed =
                    seed_after(next.seed, layouts[static_cast<std::size_t>(literal.column)].key, literal.member.data());
            return next;
        });
    nb::class_<Candidate>(area, "Candidate")
        .def_ro("decrease", &Candidate::decrease)
        .def_ro("score", &Candidate::score)
        .def_ro("weight_in", &Candidate::weight_in)
        .def_ro("curvature_in", &Candidate::curvature_in)
        .def_ro("column", &Candidate::column)
        .def_prop_ro("test", [](const Candidate& self) { return static_cast<int>(self.test); })
        .def_ro("code", &Candidate::code)
        .def_ro("missing", &Candidate::missing)
        .def_prop_ro("members", [](const Candidate& self) {
            return nb::bytes(reinterpret_cast<const char*>(self.members.data()), 256);
        });
    area.def("best_literals", &bound_best_literals, "layout"_a.noconvert(), "sums"_a.noconvert(), "criterion"_a,
             "oriented"_a, "used"_a);
    area.attr("MULTIPLICITY_LIMIT") = 1 << kMultiplicityBits;
}

}  // namespace permissible::rules
