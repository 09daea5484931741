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
#include "rules/refit/patterns.hpp"

using namespace permissible;
using namespace permissible::rules;
using nb::literals::operator""_a;

namespace {

/// Exact sums as pairs (high, low) with value high * 2^32 + low, 0 <= low < 2^32: pairs of parts add elementwise.
template <std::size_t N>
int64_t* put_pairs(const __int128 (&sums)[N], int64_t* out) {
    for (const __int128 sum : sums) {
        *out++ = static_cast<int64_t>(sum >> 32);
        *out++ = static_cast<int64_t>(sum & 0xffffffffLL);
    }
    return out;
}

template <std::size_t N>
nb::ndarray<nb::numpy, int64_t> pairs(const __int128 (&sums)[N]) {
    auto data = std::make_unique<int64_t[]>(2 * N);
    put_pairs(sums, data.get());
    return to_numpy(std::move(data), {N, std::size_t{2}});
}

// Named tuples of learners/uls/rows.py.
using GridsTuple = std::tuple<double, double, double, double>;      // weight, curvature, value, error
using Request = std::tuple<double, double, double, uint64_t>;       // weight and curvature grid, threshold, seed
using Terms = std::tuple<double, nb::object, std::vector<double>>;  // constant, rules, coefficients

template <class Work>
auto without_gil(Work work) {
    nb::gil_scoped_release free;
    return work();
}

/// Rows together with the NumPy arrays that they refer to.
class BoundRows {
  public:
    BoundRows(In3<uint8_t> blocks, std::size_t n_columns, In1<uint8_t> positive,
              std::optional<In1<double>> sample_weight, bool whole, const std::string& loss, double parameter,
              bool two_sums, int n_threads, std::optional<In1<uint32_t>> hashes, std::optional<Out1<double>> state,
              std::shared_ptr<const LossTable> table, bool keeps)
        : blocks_(blocks),
          positive_(positive),
          sample_weight_(sample_weight),
          hashes_(hashes),
          state_(state),
          rows_(codes(blocks, n_columns, positive, sample_weight), positive.data(),
                sample_weight ? sample_weight->data() : nullptr, whole, Functor{loss, parameter, std::move(table)},
                two_sums, n_threads, hashes ? hashes->data() : nullptr, state ? state->data() : nullptr, keeps) {
        if (hashes && hashes->shape(0) != rows_.n_rows()) throw std::invalid_argument("`hashes` has the wrong length");
        if (state && state->shape(0) != rows_.n_rows()) throw std::invalid_argument("`state` has the wrong length");
    }

    Rows& rows() { return rows_; }

    nb::tuple reset(const Terms& terms, const GridsTuple& grids) {
        const auto& [constant, rules, coefficients] = terms;
        const std::vector<RuleMask> masks = rules_of(rules);
        if (coefficients.size() != masks.size()) throw std::invalid_argument("one coefficient per rule is needed");
        return applied(without_gil([&] { return rows_.reset(masks, coefficients.data(), constant, grids_of(grids)); }));
    }
    nb::tuple patterns(const nb::object& rules, double grid) {
        const std::vector<RuleMask> masks = rules_of(rules);
        const PatternTable found = without_gil([&] { return index_.table(rows_, masks, grid); });
        const std::size_t n = found.weights.size() / 2;
        return nb::make_tuple(array_of(found.bits, {n, found.n_rules}), array_of(found.weights, {n, std::size_t{2}}));
    }
    nb::ndarray<nb::numpy, int64_t> histograms(const nb::object& rules, const Request& request) {
        const auto asked = std::make_from_tuple<HistogramRequest>(request);
        const std::vector<RuleMask> masks = rules_of(rules);
        const std::size_t n_sums = rows_.two_sums() ? 2 : 1,
                          n_columns = static_cast<std::size_t>(rows_.codes().columns);
        const std::size_t width = n_columns * n_sums * 256;
        auto sums = std::make_unique<int64_t[]>(masks.size() * width);
        {
            nb::gil_scoped_release free;
            for (std::size_t t = 0; t < masks.size(); ++t) {
                rows_.histogram_of(masks[t], asked, sums.get() + t * width);
            }
        }
        return to_numpy(std::move(sums), {masks.size(), n_columns, n_sums, std::size_t{256}});
    }
    nb::ndarray<nb::numpy, int64_t> signed_weights(const nb::object& rules, double weight_grid) {
        const std::vector<RuleMask> masks = rules_of(rules);
        return array_of(without_gil([&] { return rows_.signed_weights_of(masks, weight_grid); }));
    }
    nb::ndarray<nb::numpy, int64_t> measure(const nb::object& rule,
                                            const std::vector<std::pair<double, double>>& trials,
                                            const GridsTuple& grids) {
        const RuleMask mask = rule_of(rule, rows_.codes().columns);
        const std::vector<Measured> sums = without_gil([&] { return rows_.measure(mask, trials, grids_of(grids)); });
        auto data = std::make_unique<int64_t[]>(12 * sums.size());
        int64_t* out = data.get();
        for (const Measured& at : sums) out = put_pairs(at.out, put_pairs(at.in, out));
        return to_numpy(std::move(data), {sums.size(), std::size_t{6}, std::size_t{2}});
    }
    nb::tuple apply(const nb::object& rule, double value_in, double value_out, const GridsTuple& grids) {
        const RuleMask mask = rule_of(rule, rows_.codes().columns);
        return applied(without_gil([&] { return rows_.apply(mask, value_in, value_out, grids_of(grids)); }));
    }

  private:
    std::vector<RuleMask> rules_of(const nb::object& rules) const {
        std::vector<RuleMask> masks;
        for (const nb::handle rule : rules) masks.push_back(rule_of(rule, rows_.codes().columns));
        return masks;
    }
    static Grids grids_of(const GridsTuple& grids) { return std::make_from_tuple<Grids>(grids); }
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
    std::optional<In1<uint32_t>> hashes_;
    std::optional<Out1<double>> state_;
    Rows rows_;
    PatternIndex index_;
};

LoopResult boost(BoundRows& rows, BoundRows* held_out, const In2<int32_t>& layout, const LoopOptions& options,
                 std::optional<In1<double>> start_scores, nb::object callback) {
    const auto layouts = layouts_of(layout);
    if (layouts.size() != static_cast<std::size_t>(rows.rows().codes().columns) ||
        rows.rows().two_sums() != options.fit_constant) {
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
    LoopResult result = without_gil([&] {
        return run_loop(rows.rows(), held_out == nullptr ? nullptr : &held_out->rows(), layouts, options,
                        start_scores ? start_scores->data() : nullptr, on_round);
    });
    if (signalled) throw nb::python_error();
    return result;
}

}  // namespace

void bind_boosting(nb::module_& area) {
    nb::class_<BoundRows>(area, "Rows")
        .def(nb::init<In3<uint8_t>, std::size_t, In1<uint8_t>, std::optional<In1<double>>, bool, const std::string&,
                      double, bool, int, std::optional<In1<uint32_t>>, std::optional<Out1<double>>,
                      std::shared_ptr<const LossTable>, bool>(),
             "blocks"_a.noconvert(), "n_columns"_a, "positive"_a.noconvert(),
             "sample_weight"_a.noconvert() = nb::none(), "whole"_a = false, "loss"_a = "logistic", "parameter"_a = 0.0,
             "two_sums"_a = true, "n_threads"_a = 1, "hashes"_a.noconvert() = nb::none(),
             "state"_a.noconvert() = nb::none(), "table"_a = nb::none(), "keeps"_a = false)
        .def("reset", &BoundRows::reset, "terms"_a, "grids"_a)
        .def("patterns", &BoundRows::patterns, "rules"_a, "grid"_a = 1.0)
        .def("histograms", &BoundRows::histograms, "rules"_a, "request"_a)
        .def("signed_weights", &BoundRows::signed_weights, "rules"_a, "weight_grid"_a)
        .def("measure", &BoundRows::measure, "rule"_a, "trials"_a, "grids"_a)
        .def("apply", &BoundRows::apply, "rule"_a, "value_in"_a, "value_out"_a, "grids"_a);
    nb::class_<LoopOptions>(area, "LoopOptions")
        .def(
            "__init__",
            [](LoopOptions* self, int n_rounds, int max_literals, int beam, bool fit_constant, double l2,
               double learning_rate, double share, double tolerance, uint64_t seed, int first_round,
               bool start_constant, double max_seconds, bool intervals, int patience, bool certified, double noise) {
                new (self) LoopOptions{{max_literals, beam, fit_constant, l2, share, intervals, noise},
                                       n_rounds,
                                       fit_constant,
                                       learning_rate,
                                       tolerance,
                                       seed,
                                       first_round,
                                       start_constant,
                                       max_seconds,
                                       patience,
                                       certified};
            },
            nb::kw_only(), "n_rounds"_a, "max_literals"_a, "beam"_a, "fit_constant"_a, "l2"_a, "learning_rate"_a,
            "share"_a, "tolerance"_a, "seed"_a, "first_round"_a, "start_constant"_a, "max_seconds"_a,
            "intervals"_a = false, "patience"_a = 0, "certified"_a = true, "noise"_a = 0.0);
    nb::class_<Round>(area, "Round")
        .def_ro("literals", &Round::literals)
        .def_ro("value_in", &Round::value_in)
        .def_ro("value_out", &Round::value_out)
        .def_ro("edge", &Round::edge)
        .def_ro("weight", &Round::weight)
        .def_ro("surrogate", &Round::surrogate)
        .def_ro("error", &Round::error)
        .def_ro("validation", &Round::validation)
        .def_ro("passes", &Round::passes)
        .def_ro("covered", &Round::covered)
        .def_ro("covered_positive", &Round::covered_positive)
        .def_ro("endless", &Round::endless);
    nb::class_<LoopResult>(area, "LoopResult")
        .def_ro("constant", &LoopResult::constant)
        .def_ro("rounds", &LoopResult::rounds)
        .def("validation",
             [](const LoopResult& self) {
                 std::vector<double> curve{self.start_validation};
                 for (const Round& round : self.rounds) curve.push_back(round.validation);
                 return array_of(curve);
             })
        .def_prop_ro("stop", [](const LoopResult& self) { return static_cast<int>(self.stop); })
        .def_ro("start_surrogate", &LoopResult::start_surrogate)
        .def_ro("start_error", &LoopResult::start_error)
        .def_ro("start_validation", &LoopResult::start_validation)
        .def_ro("largest_edge", &LoopResult::largest_edge)
        .def_ro("gradient_norm", &LoopResult::gradient_norm);
    area.def("boost", &boost, "rows"_a, "held_out"_a.none(), "layout"_a.noconvert(), "options"_a,
             "start_scores"_a.noconvert() = nb::none(), "callback"_a = nb::none());
    bind_kernels(area);
}
