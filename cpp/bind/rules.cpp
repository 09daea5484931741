// Bindings of the rows of a fit and of the loop over them: exact dtypes, sizes checked, the GIL released, no copies of
// the rows.
#include "bind/rules.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>

#include "common/arrays.hpp"
#include "common/interrupt.hpp"
#include "losses/table.hpp"
#include "rules/loop.hpp"
#include "rules/patterns.hpp"

using namespace permissible;
using namespace permissible::rules;
using nb::literals::operator""_a;

namespace {

/// Exact sums as pairs (high, low) with value high * 2^32 + low, 0 <= low < 2^32: pairs of parts add elementwise.
template <std::size_t N>
nb::ndarray<nb::numpy, int64_t> pairs(const __int128 (&sums)[N]) {
    auto data = std::make_unique<int64_t[]>(2 * N);
    for (std::size_t s = 0; s < N; ++s) {
        data[2 * s] = static_cast<int64_t>(sums[s] >> 32);
        data[2 * s + 1] = static_cast<int64_t>(sums[s] & 0xffffffffLL);
    }
    return to_numpy(std::move(data), {N, std::size_t{2}});
}

/// Rows together with the NumPy arrays that they look into.
class BoundRows {
  public:
    BoundRows(In3<uint8_t> blocks, std::size_t n_columns, In1<uint8_t> positive,
              std::optional<In1<double>> sample_weight, bool whole, const std::string& loss, double parameter,
              bool two_sums, int n_threads, uint64_t first_row, std::optional<Out1<double>> state,
              std::shared_ptr<const LossTable> table)
        : blocks_(blocks),
          positive_(positive),
          sample_weight_(sample_weight),
          state_(state),
          rows_(codes(blocks, n_columns, positive, sample_weight), positive.data(),
                sample_weight ? sample_weight->data() : nullptr, whole, Functor{loss, parameter, std::move(table)},
                two_sums, n_threads, first_row, state ? state->data() : nullptr) {
        if (state && state->shape(0) != rows_.n_rows()) throw std::invalid_argument("`state` has the wrong length");
    }

    Rows& rows() { return rows_; }

    nb::tuple reset(const std::vector<std::pair<Columns, Members>>& rules, const In1<double>& coefficients,
                    double constant, Grids grids) {
        if (coefficients.shape(0) != rules.size()) throw std::invalid_argument("one coefficient per rule is needed");
        const std::vector<RuleMask> masks = rules_of(rules);
        StepSums sums;
        {
            nb::gil_scoped_release free;
            sums = rows_.reset(masks, coefficients.data(), constant, grids);
        }
        return applied(sums);
    }
    nb::tuple patterns(const std::vector<std::pair<Columns, Members>>& rules, double grid) {
        const std::vector<RuleMask> masks = rules_of(rules);
        PatternTable found;
        {
            nb::gil_scoped_release free;
            found = index_.table(rows_, masks, grid);
        }
        const std::size_t n = found.weights.size() / 2;
        auto bits = std::make_unique<uint8_t[]>(found.bits.size() + 1);
        auto weights = std::make_unique<int64_t[]>(found.weights.size());
        std::copy(found.bits.begin(), found.bits.end(), bits.get());
        std::copy(found.weights.begin(), found.weights.end(), weights.get());
        return nb::make_tuple(to_numpy(std::move(bits), {n, found.n_rules}),
                              to_numpy(std::move(weights), {n, std::size_t{2}}));
    }
    nb::ndarray<nb::numpy, int64_t> histogram(const Columns& columns, const Members& members, double weight_grid,
                                              double curvature_grid, double share, uint64_t seed) {
        const RuleMask rule = rule_of(columns, members, rows_.codes().columns);
        const std::size_t n_sums = rows_.two_sums() ? 2 : 1,
                          n_columns = static_cast<std::size_t>(rows_.codes().columns);
        auto sums = std::make_unique<int64_t[]>(n_columns * n_sums * 256);
        {
            nb::gil_scoped_release free;
            rows_.histogram_of(rule, weight_grid, curvature_grid, share, seed, sums.get());
        }
        return to_numpy(std::move(sums), {n_columns, n_sums, std::size_t{256}});
    }
    nb::ndarray<nb::numpy, int64_t> measure(const Columns& columns, const Members& members, double value_in,
                                            double value_out, Grids grids) {
        const RuleMask rule = rule_of(columns, members, rows_.codes().columns);
        Measured sums;
        {
            nb::gil_scoped_release free;
            sums = rows_.measure(rule, value_in, value_out, grids);
        }
        const __int128 six[6] = {sums.in[0], sums.in[1], sums.in[2], sums.out[0], sums.out[1], sums.out[2]};
        return pairs(six);
    }
    nb::tuple apply(const Columns& columns, const Members& members, double value_in, double value_out, Grids grids) {
        const RuleMask rule = rule_of(columns, members, rows_.codes().columns);
        StepSums sums;
        {
            nb::gil_scoped_release free;
            sums = rows_.apply(rule, value_in, value_out, grids);
        }
        return applied(sums);
    }
    std::size_t count(const Columns& columns, const Members& members) {
        const RuleMask rule = rule_of(columns, members, rows_.codes().columns);
        nb::gil_scoped_release free;
        rows_.mask_of(rule);
        return rows_.covered();
    }

  private:
    std::vector<RuleMask> rules_of(const std::vector<std::pair<Columns, Members>>& rules) const {
        std::vector<RuleMask> masks;
        for (const auto& [columns, members] : rules) {
            masks.push_back(rule_of(columns, members, rows_.codes().columns));
        }
        return masks;
    }
    static Codes codes(const In3<uint8_t>& blocks, std::size_t n_columns, const In1<uint8_t>& positive,
                       const std::optional<In1<double>>& sample_weight) {
        const std::size_t n_rows = blocks.shape(1);
        if (blocks.shape(2) != 8 || blocks.shape(0) != (n_columns + 7) / 8) {
            throw std::invalid_argument("`blocks` must have shape (n_blocks, n_rows, 8) for these columns");
        }
        if (positive.shape(0) != n_rows || (sample_weight && sample_weight->shape(0) != n_rows)) {
            throw std::invalid_argument("`positive` and `sample_weight` must have one entry per row");
        }
        return {blocks.data(), n_rows, static_cast<int>(n_columns)};
    }
    static nb::tuple applied(const StepSums& sums) {
        const __int128 six[6] = {sums.weight, sums.curvature, sums.value,
                                 sums.error,  sums.covered,   sums.covered_positive};
        return nb::make_tuple(pairs(six), sums.low_state, sums.high_state);
    }

    In3<uint8_t> blocks_;
    In1<uint8_t> positive_;
    std::optional<In1<double>> sample_weight_;
    std::optional<Out1<double>> state_;
    Rows rows_;
    PatternIndex index_;
};

nb::dict result_dict(const LoopResult& result) {
    nb::list rounds;
    for (const Round& round : result.rounds) {
        nb::list literals;
        for (const Candidate& literal : round.literals) literals.append(literal_tuple(literal));
        rounds.append(nb::make_tuple(literals, round.value_in, round.value_out, round.decrease, round.edge,
                                     round.weight, round.surrogate, round.error, round.validation,
                                     round.validation_error, round.passes, round.covered, round.covered_positive,
                                     round.endless));
    }
    nb::dict out;
    out["constant"] = result.constant;
    out["start_surrogate"] = result.start_surrogate;
    out["start_error"] = result.start_error;
    out["start_validation"] = result.start_validation;
    out["rounds"] = rounds;
    out["largest_edge"] = result.largest_edge;
    out["gradient_norm"] = result.gradient_norm;
    out["stop"] = static_cast<int>(result.stop);
    return out;
}

nb::dict boost(BoundRows& rows, BoundRows* validation, const In2<int32_t>& layout, int n_rounds, int max_literals,
               int beam, bool fit_constant, double l2, double learning_rate, double share, double tolerance,
               uint64_t seed, int first_round, bool start_constant, double max_seconds,
               std::optional<In1<double>> start_scores, nb::object callback) {
    LoopOptions options;
    options.grow = {max_literals, beam, fit_constant, l2, share};
    options.n_rounds = n_rounds;
    options.fit_constant = fit_constant;
    options.learning_rate = learning_rate;
    options.tolerance = tolerance;
    options.seed = seed;
    options.first_round = first_round;
    options.start_constant = start_constant;
    options.max_seconds = max_seconds;
    const auto layouts = layouts_of(layout);
    if (layouts.size() != static_cast<std::size_t>(rows.rows().codes().columns) ||
        rows.rows().two_sums() != fit_constant) {
        throw std::invalid_argument("`layout` and the rows disagree");
    }
    const bool called = !callback.is_none();
    Interrupt interrupt(std::chrono::milliseconds(50));
    bool signalled = false;
    const auto on_round = [&](int round) {
        if (!interrupt.due() && !(called && round == 0)) return true;
        nb::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) {
            signalled = true;
            return false;
        }
        return !called || nb::cast<bool>(callback(round));
    };
    LoopResult result;
    {
        nb::gil_scoped_release free;
        result = run_loop(rows.rows(), validation == nullptr ? nullptr : &validation->rows(), layouts, options,
                          start_scores ? start_scores->data() : nullptr, on_round);
    }
    if (signalled) throw nb::python_error();
    return result_dict(result);
}

}  // namespace

void bind_boosting(nb::module_& area) {
    nb::class_<Grids>(area, "Grids")
        .def(nb::init<double, double, double, double>(), "weight"_a, "curvature"_a, "value"_a = 1.0, "error"_a = 1.0)
        .def_rw("weight", &Grids::weight)
        .def_rw("curvature", &Grids::curvature)
        .def_rw("value", &Grids::value)
        .def_rw("error", &Grids::error);
    nb::class_<BoundRows>(area, "Rows")
        .def(nb::init<In3<uint8_t>, std::size_t, In1<uint8_t>, std::optional<In1<double>>, bool, const std::string&,
                      double, bool, int, uint64_t, std::optional<Out1<double>>, std::shared_ptr<const LossTable>>(),
             "blocks"_a.noconvert(), "n_columns"_a, "positive"_a.noconvert(),
             "sample_weight"_a.noconvert() = nb::none(), "whole"_a = false, "loss"_a = "logistic", "parameter"_a = 0.0,
             "two_sums"_a = true, "n_threads"_a = 1, "first_row"_a = 0, "state"_a.noconvert() = nb::none(),
             "table"_a = nb::none())
        .def("reset", &BoundRows::reset, "rules"_a, "coefficients"_a.noconvert(), "constant"_a, "grids"_a)
        .def("patterns", &BoundRows::patterns, "rules"_a, "grid"_a = 1.0)
        .def("histogram", &BoundRows::histogram, "columns"_a.noconvert(), "members"_a.noconvert(), "weight_grid"_a,
             "curvature_grid"_a, "share"_a = 1.0, "seed"_a = 0)
        .def("measure", &BoundRows::measure, "columns"_a.noconvert(), "members"_a.noconvert(), "value_in"_a,
             "value_out"_a, "grids"_a)
        .def("apply", &BoundRows::apply, "columns"_a.noconvert(), "members"_a.noconvert(), "value_in"_a, "value_out"_a,
             "grids"_a)
        .def("count", &BoundRows::count, "columns"_a.noconvert(), "members"_a.noconvert());
    area.def("boost", &boost, "rows"_a, "validation"_a.none(), "layout"_a.noconvert(), nb::kw_only(), "n_rounds"_a,
             "max_literals"_a, "beam"_a, "fit_constant"_a, "l2"_a, "learning_rate"_a, "share"_a, "tolerance"_a,
             "seed"_a, "first_round"_a = 0, "start_constant"_a = true, "max_seconds"_a = 0.0,
             "start_scores"_a.noconvert() = nb::none(), "callback"_a = nb::none());
    bind_kernels(area);
}
