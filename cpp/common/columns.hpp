// Columns as the binning kernels read them: a pointer, a stride and a type each, so that C-order and F-order matrices
// and separate columns of float32, float64 or category codes are read where they lie, without a copy.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace permissible::binning {

namespace nb = nanobind;

enum class Type { float32, float64, category };

struct ColumnView {
    Type type;
    const void* data;
    int64_t stride;  // in elements
    size_t rows;

    template <typename T>
    const T* at(size_t row) const {
        return static_cast<const T*>(data) + static_cast<int64_t>(row) * stride;
    }
};

/// Copies `n` values from row `first` on next to each other.
template <typename T>
inline void load(const ColumnView& column, size_t first, size_t n, T* value) {
    const T* source = column.at<T>(first);
    if (column.stride == 1) {
        std::memcpy(value, source, n * sizeof(T));
        return;
    }
    for (size_t i = 0; i < n; ++i) value[i] = source[static_cast<int64_t>(i) * column.stride];
}

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

/// The columns of a Python list of 1-D arrays; `keep` holds them alive while the kernel runs without the GIL.
inline std::vector<ColumnView> views_of(const nb::list& columns, std::vector<AnyColumn>& keep) {
    std::vector<ColumnView> views;
    views.reserve(columns.size());
    keep.reserve(columns.size());
    for (nb::handle item : columns) {
        auto array = nb::cast<AnyColumn>(item, false);
        Type type;
        if (array.dtype() == nb::dtype<double>())
            type = Type::float64;
        else if (array.dtype() == nb::dtype<float>())
            type = Type::float32;
        else if (array.dtype() == nb::dtype<int32_t>())
            type = Type::category;
        else
            throw std::invalid_argument("a column must be float32, float64 or int32 category codes");
        views.push_back({type, array.data(), array.stride(0), array.shape(0)});
        if (views.back().rows != views.front().rows) throw std::invalid_argument("columns must have equal lengths");
        keep.push_back(std::move(array));
    }
    return views;
}

}  // namespace permissible::binning
