// Bindings of the binning area: exact dtypes, sizes checked, the GIL released, no copies.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "binning/decimal.hpp"
#include "binning/edges.hpp"
#include "binning/encode.hpp"
#include "binning/scan.hpp"
#include "common/arrays.hpp"

namespace nb = nanobind;
using nb::literals::operator""_a;
using namespace permissible;
using namespace permissible::binning;

namespace {

void require_offsets(const In1<int64_t>& offsets, size_t n_columns, size_t length) {
    require(offsets.shape(0) == n_columns + 1, "offsets must have one entry more than there are columns");
    int64_t last = 0;
    for (size_t j = 0; j <= n_columns; ++j) {
        require(offsets(j) >= last, "offsets must not decrease");
        last = offsets(j);
    }
    require(offsets(0) == 0 && static_cast<size_t>(last) == length, "offsets must span their array");
}

void require_rows(const int64_t* rows, size_t count, size_t n_rows) {
    for (size_t i = 0; i < count; ++i)
        require(rows[i] >= 0 && static_cast<size_t>(rows[i]) < n_rows, "a row number lies outside the table");
}

nb::tuple survey_columns(const nb::list& columns, int n_threads) {
    const ColumnArrays arrays(columns);
    const auto& views = arrays.views;
    std::vector<Findings> found;
    {
        nb::gil_scoped_release release;
        found = survey(views, n_threads);
    }
    auto missing = std::make_unique<bool[]>(views.size());
    auto infinite = std::make_unique<bool[]>(views.size());
    for (size_t j = 0; j < views.size(); ++j) {
        missing[j] = found[j].missing;
        infinite[j] = found[j].infinite;
    }
    return nb::make_tuple(to_numpy(std::move(missing), {views.size()}), to_numpy(std::move(infinite), {views.size()}));
}

nb::list distinct_values(const nb::list& columns, std::optional<In1<int64_t>> rows, size_t limit, int n_threads) {
    const ColumnArrays arrays(columns);
    const auto& views = arrays.views;
    arrays.require_numbers("distinct values are of numeric columns");
    require(limit <= 255, "limit must be at most 255");
    const size_t count = rows ? rows->shape(0) : arrays.rows();
    if (rows) require_rows(rows->data(), count, arrays.rows());
    std::vector<Distinct> found;
    {
        nb::gil_scoped_release release;
        found = collect_distinct(views, rows ? rows->data() : nullptr, count, limit, n_threads);
    }
    nb::list result;
    for (const Distinct& one : found) result.append(nb::make_tuple(array_of(one.values), one.complete));
    return result;
}

nb::ndarray<nb::numpy, uint64_t> row_hashes(const nb::list& columns, In1<uint64_t> column_hashes,
                                            In1<uint64_t> category_hashes, In1<int64_t> offsets, uint64_t seed,
                                            size_t n_rows, int n_threads) {
    const ColumnArrays arrays(columns);
    const auto& views = arrays.views;
    arrays.require_rows(n_rows);
    require(column_hashes.shape(0) == views.size(), "column_hashes must be one for each column");
    require_offsets(offsets, views.size(), category_hashes.shape(0));
    std::vector<const uint64_t*> tables(views.size());
    for (size_t j = 0; j < views.size(); ++j) {
        tables[j] = category_hashes.data() + offsets(j);
        if (views[j].type != ColumnType::category) continue;
        const int64_t known = offsets(j + 1) - offsets(j);
        for (size_t i = 0; i < n_rows; ++i) require(*views[j].at<int32_t>(i) < known, "a category code has no hash");
    }
    auto hashes = std::make_unique<uint64_t[]>(n_rows);
    {
        nb::gil_scoped_release release;
        hash_rows(views, column_hashes.data(), tables, seed, hashes.get(), n_threads);
    }
    return to_numpy(std::move(hashes), {n_rows});
}

nb::tuple find_column_edges(const nb::list& columns, std::optional<In1<int64_t>> rows,
                            std::optional<In1<int64_t>> weights, int64_t unit, int max_bins, int n_threads) {
    const ColumnArrays arrays(columns);
    const auto& views = arrays.views;
    require(max_bins >= 2 && max_bins <= 255, "max_bins must lie in 2..255");
    Sample sample;
    sample.count = rows ? rows->shape(0) : arrays.rows();
    sample.rows = rows ? rows->data() : nullptr;
    sample.weights = weights ? weights->data() : nullptr;
    sample.unit = unit;
    require(sample.count < (uint64_t{1} << 32), "a sample must have fewer than 2^32 rows");
    if (rows && !views.empty()) require_rows(sample.rows, sample.count, arrays.rows());
    if (weights) require(weights->shape(0) == sample.count, "weights must be one for each row of the sample");
    __int128 total = weights ? 0 : static_cast<__int128>(unit) * static_cast<__int128>(sample.count);
    for (size_t i = 0; weights && i < sample.count; ++i) {
        require(sample.weights[i] > 0, "weights must be positive");
        total += sample.weights[i];
    }
    require(unit > 0 && total < (int64_t{1} << 61), "weights must sum to less than 2^61");
    arrays.require_numbers("edges are of numeric columns");
    std::vector<Edges> edges;
    {
        nb::gil_scoped_release release;
        edges = find_edges(views, sample, max_bins, n_threads);
    }
    nb::list result;
    for (Edges& e : edges) {  // passed on one by one, so that the arrays of many columns reuse the memory that is freed
        const Edges one = std::move(e);
        result.append(nb::make_tuple(array_of(one.thresholds), one.has_missing, one.exact));
    }
    return nb::tuple(result);
}

uint64_t largest_kept_hash(In1<uint64_t> hashes, size_t limit) {
    require(limit > 0, "limit must be positive");
    nb::gil_scoped_release release;
    return largest_kept(hashes.data(), hashes.shape(0), limit);
}

nb::ndarray<nb::numpy, double> separators(In1<double> values) {
    const size_t n = values.shape(0);
    const size_t count = n == 0 ? 0 : n - 1;
    auto result = std::make_unique<double[]>(count);
    for (size_t i = 0; i < count; ++i) result[i] = separate(values(i), values(i + 1));
    return to_numpy(std::move(result), {count});
}

void encode_columns(const nb::list& columns, In1<double> thresholds, In1<int64_t> threshold_offsets, In1<uint8_t> codes,
                    In1<int64_t> code_offsets, Out3<uint8_t> blocks, int n_threads) {
    const ColumnArrays arrays(columns);
    const auto& views = arrays.views;
    const size_t n = views.size();
    require_offsets(threshold_offsets, n, thresholds.shape(0));
    require_offsets(code_offsets, n, codes.shape(0));
    const size_t n_rows = blocks.shape(1);
    require(blocks.shape(0) == (n + 7) / 8 && blocks.shape(2) == 8, "blocks must have shape (n_blocks, n_rows, 8)");
    arrays.require_rows(n_rows);
    std::vector<Coder> coders(n);
    for (size_t j = 0; j < n; ++j) {
        coders[j] = {thresholds.data() + threshold_offsets(j),
                     static_cast<size_t>(threshold_offsets(j + 1) - threshold_offsets(j)),
                     codes.data() + code_offsets(j), static_cast<size_t>(code_offsets(j + 1) - code_offsets(j))};
        require(coders[j].n_thresholds <= 254, "a column has at most 254 thresholds");
    }
    uint8_t* out = blocks.data();
    nb::gil_scoped_release release;
    encode(views, coders, out, n_rows, n_threads);
}

}  // namespace

void bind_binning(nb::module_& area) {
    area.def("survey", &survey_columns, "columns"_a, "n_threads"_a);
    area.def("distinct_values", &distinct_values, "columns"_a, "rows"_a.noconvert().none(), "limit"_a,
             "n_threads"_a = 1);
    area.def("row_hashes", &row_hashes, "columns"_a, "column_hashes"_a.noconvert(), "category_hashes"_a.noconvert(),
             "offsets"_a.noconvert(), "seed"_a, "n_rows"_a, "n_threads"_a);
    area.def("find_edges", &find_column_edges, "columns"_a, "rows"_a.noconvert().none(), "weights"_a.noconvert().none(),
             "unit"_a, "max_bins"_a, "n_threads"_a);
    area.def("largest_kept", &largest_kept_hash, "hashes"_a.noconvert(), "limit"_a);
    area.def("separators", &separators, "values"_a.noconvert());
    area.def("encode", &encode_columns, "columns"_a, "thresholds"_a.noconvert(), "threshold_offsets"_a.noconvert(),
             "codes"_a.noconvert(), "code_offsets"_a.noconvert(), "blocks"_a.noconvert(), "n_threads"_a);
}
