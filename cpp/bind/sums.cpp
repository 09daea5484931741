// Exact sums over rows in parts, for terms of any size in any order (exact.hpp): the limbs of parts add as integers and
// are rounded once.
#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "common/arrays.hpp"
#include "common/exact.hpp"

namespace nb = nanobind;
using nb::literals::operator""_a;
using namespace permissible;

namespace {

constexpr std::size_t kWidth = Accumulator::kLimbs + 1;
constexpr std::size_t kCarry = std::size_t{1} << 30;  // terms until limbs are put in order

auto limbs_of(const std::vector<Accumulator>& sums) {
    std::vector<int64_t> all;
    for (const Accumulator& sum : sums) all.insert(all.end(), sum.limbs.begin(), sum.limbs.end());
    return array_of(all, {sums.size(), kWidth});
}

nb::list exact_values(In2<int64_t> limbs) {
    require(limbs.shape(1) == kWidth, "limbs must be those of exact sums");
    nb::list out;
    for (std::size_t k = 0; k < limbs.shape(0); ++k) {
        Accumulator sum;
        std::copy_n(limbs.data() + k * kWidth, kWidth, sum.limbs.begin());
        out.append(sum.value());
    }
    return out;
}

Accumulator summed(const double* values, std::size_t count) {
    Accumulator sum;
    for (std::size_t i = 0; i < count; ++i) {
        sum.add(values[i]);
        if (i % kCarry == kCarry - 1) sum.carry();
    }
    sum.carry();
    return sum;
}

// The exact sum of each row of a matrix.
auto exact_limbs(In2<double> values) {
    std::vector<Accumulator> sums;
    {
        nb::gil_scoped_release release;
        for (std::size_t k = 0; k < values.shape(0); ++k)
            sums.push_back(summed(values.data() + k * values.shape(1), values.shape(1)));
    }
    return limbs_of(sums);
}

double exact_sum(In1<double> values) { return summed(values.data(), values.shape(0)).value(); }

// Sums of x_ij mass_i for every column j, and of mass_i: X' mass with a column of ones.
auto exact_products(In2<double> x, In1<double> mass) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(mass.shape(0) == n, "one mass per row");
    std::vector<Accumulator> sums(d + 1);
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < n; ++i) {
            const double m = mass.data()[i];
            if (m != 0) {
                const double* row = x.data() + i * d;
                for (std::size_t j = 0; j < d; ++j) sums[j].add(row[j] * m);
                sums[d].add(m);
            }
            if (i % kCarry == kCarry - 1)
                for (auto& sum : sums) sum.carry();
        }
        for (auto& sum : sums) sum.carry();
    }
    return limbs_of(sums);
}

// x_i . coef + intercept, column by column in order: a row's score does not depend on the rows around it.
auto linear_scores(In2<double> x, In1<double> coef, double intercept) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(coef.shape(0) == d, "one coefficient per column");
    auto out = std::make_unique<double[]>(std::max<std::size_t>(n, 1));
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < n; ++i) {
            double score = intercept;
            for (std::size_t j = 0; j < d; ++j) score += x.data()[i * d + j] * coef.data()[j];
            out[i] = score;
        }
    }
    return to_numpy(std::move(out), {n});
}

}  // namespace

void bind_sums(nb::module_& area) {
    area.def("exact_sum", &exact_sum, "values"_a.noconvert());
    area.def("exact_limbs", &exact_limbs, "values"_a.noconvert());
    area.def("exact_values", &exact_values, "limbs"_a.noconvert());
    area.def("exact_products", &exact_products, "x"_a.noconvert(), "mass"_a.noconvert());
    area.def("linear_scores", &linear_scores, "x"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a);
}
