// Arrays between Python and C++: exact dtype, C order, on the CPU, never converted silently.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "common/codes.hpp"
#include "common/columns.hpp"

namespace permissible {

namespace nb = nanobind;

template <typename T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In1 = In<T, 1>;
template <typename T>
using In2 = In<T, 2>;
template <typename T>
using In3 = In<T, 3>;
template <typename T>
using Out1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out3 = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

/// Passes a newly allocated buffer to NumPy without a copy; NumPy frees it.
template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::unique_ptr<T[]> data, std::initializer_list<size_t> shape) {
    T* raw = data.release();
    nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(raw, shape, owner);
}

/// A copy of a vector as an array of this shape.
template <typename Vector>
auto array_of(const Vector& values, std::initializer_list<size_t> shape) {
    using T = typename Vector::value_type;
    auto data = std::make_unique<T[]>(std::max<size_t>(values.size(), 1));
    std::copy(values.begin(), values.end(), data.get());
    return to_numpy(std::move(data), shape);
}
template <typename Vector>
auto array_of(const Vector& values) {
    return array_of(values, {values.size()});
}

/// The columns of a Python list of 1-D arrays, held alive while a kernel runs without the GIL.
class ColumnArrays {
  public:
    explicit ColumnArrays(const nb::list& columns) {
        for (nb::handle item : columns) {
            const auto& array = held_.emplace_back(nb::cast<AnyColumn>(item, false));
            views.push_back({type_of(array), array.data(), array.stride(0), array.shape(0)});
            require(views.back().rows == views.front().rows, "columns must have equal lengths");
        }
    }
    size_t rows() const { return views.empty() ? 0 : views[0].rows; }
    void require_rows(size_t n_rows) const {
        require(views.empty() || rows() == n_rows, "columns must have n_rows values");
    }
    void require_numbers(const char* message) const {
        for (const ColumnView& view : views) require(view.type != ColumnType::category, message);
    }

    std::vector<ColumnView> views;

  private:
    using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

    static ColumnType type_of(const AnyColumn& array) {
        if (array.dtype() == nb::dtype<double>()) return ColumnType::float64;
        if (array.dtype() == nb::dtype<float>()) return ColumnType::float32;
        require(array.dtype() == nb::dtype<int32_t>(), "a column must be float32, float64 or int32 category codes");
        return ColumnType::category;
    }

    std::vector<AnyColumn> held_;
};

}  // namespace permissible
