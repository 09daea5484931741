// Raw columns as kernels read them: a pointer, a stride and a type each, so that C-order and F-order matrices and
// separate columns of float32, float64 or category codes are read where they lie, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace permissible {

enum class ColumnType { float32, float64, category };

struct ColumnView {
    ColumnType type;
    const void* data;
    int64_t stride;  // in elements
    std::size_t rows;

    template <typename T>
    const T* at(std::size_t row) const {
        return static_cast<const T*>(data) + static_cast<int64_t>(row) * stride;
    }
    /// A value of a numeric column.
    double number(std::size_t row) const {
        return type == ColumnType::float32 ? static_cast<double>(*at<float>(row)) : *at<double>(row);
    }
};

/// Copies `n` values from row `first` on next to each other.
template <typename T>
inline void load(const ColumnView& column, std::size_t first, std::size_t n, T* value) {
    const T* source = column.at<T>(first);
    if (column.stride == 1) {
        std::memcpy(value, source, n * sizeof(T));
        return;
    }
    for (std::size_t i = 0; i < n; ++i) value[i] = source[static_cast<int64_t>(i) * column.stride];
}

}  // namespace permissible
