#include "trees/predict.hpp"

#include <cmath>

#include "common/parallel.hpp"

namespace permissible::trees {
namespace {

constexpr int kMissing = 255;

inline bool in_set(const std::uint8_t* set, int code) {
    return (set[code >> 3] >> (code & 7)) & 1;
}

inline double number(const Column& column, std::size_t row) {
    const char* at = static_cast<const char*>(column.data) + static_cast<std::ptrdiff_t>(row) * column.stride;
    if (column.type == Column::Type::float64) return *reinterpret_cast<const double*>(at);
    return *reinterpret_cast<const float*>(at);
}

inline int category_code(const Nodes& tree, const Column& column, std::size_t j, std::size_t row) {
    const char* at = static_cast<const char*>(column.data) + static_cast<std::ptrdiff_t>(row) * column.stride;
    const std::int32_t category = *reinterpret_cast<const std::int32_t*>(at);
    if (category == -1) return kMissing;
    const std::int64_t known = tree.category_begin[j + 1] - tree.category_begin[j];
    if (category < 0 || category >= known) return tree.other;
    return tree.code_of_category[tree.category_begin[j] + category];
}

/// One step down from `node` for `row`.
inline std::int32_t child(const Nodes& tree, const std::vector<Column>& columns, std::int32_t node, std::size_t row) {
    const std::size_t j = tree.column[node];
    const std::uint8_t* set = tree.left_set + static_cast<std::size_t>(node) * 32;
    bool left;
    if (tree.test[node] == 2) {
        left = in_set(set, category_code(tree, columns[j], j, row));
    } else {
        const double x = number(columns[j], row);
        // A test for missing has threshold +inf: whatever is present goes left.
        left = std::isnan(x) ? in_set(set, kMissing) : x <= tree.threshold[node];
    }
    return left ? tree.left[node] : tree.right[node];
}

/// Numeric float64 matrix in row order: the common case, without a branch but the loop's.
template <typename Number>
void walk_matrix(const Nodes& tree, const std::vector<Column>& columns, std::size_t begin, std::size_t end,
                 std::int32_t* leaf) {
    constexpr std::size_t kTogether = 8;  // independent walks, so that one waits for memory while another runs
    const char* base = static_cast<const char*>(columns[0].data);
    const std::ptrdiff_t row_stride = columns[0].stride;
    for (std::size_t at = begin; at < end; at += kTogether) {
        const std::size_t count = end - at < kTogether ? end - at : kTogether;
        std::int32_t node[kTogether] = {};
        bool moving = tree.left[0] >= 0;
        while (moving) {
            moving = false;
            for (std::size_t i = 0; i < count; ++i) {
                const std::int32_t k = node[i];
                if (tree.left[k] < 0) continue;
                const Number* row =
                    reinterpret_cast<const Number*>(base + static_cast<std::ptrdiff_t>(at + i) * row_stride);
                const double x = row[tree.column[k]];
                const bool nan_left = in_set(tree.left_set + static_cast<std::size_t>(k) * 32, kMissing);
                const bool left = (x <= tree.threshold[k]) | ((x != x) & nan_left);
                node[i] = left ? tree.left[k] : tree.right[k];
                moving = true;
            }
        }
        for (std::size_t i = 0; i < count; ++i) leaf[at + i] = node[i];
    }
}

void walk(const Nodes& tree, const std::vector<Column>& columns, std::size_t begin, std::size_t end,
          std::int32_t* leaf) {
    for (std::size_t row = begin; row < end; ++row) {
        std::int32_t node = 0;
        while (tree.left[node] >= 0) node = child(tree, columns, node, row);
        leaf[row] = node;
    }
}

/// Whether the columns are those of one row-ordered matrix, of the type of the first.
bool is_matrix(const std::vector<Column>& columns) {
    if (columns.empty() || columns[0].type == Column::Type::int32) return false;
    const std::size_t size = columns[0].type == Column::Type::float64 ? 8 : 4;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (columns[j].type != columns[0].type || columns[j].stride != columns[0].stride ||
            columns[j].data != static_cast<const char*>(columns[0].data) + j * size)
            return false;
    }
    return true;
}

}  // namespace

void find_leaves(const Nodes& tree, const std::vector<Column>& columns, std::size_t n_rows, std::int32_t* leaf,
                 int threads) {
    const bool matrix = is_matrix(columns);
    const int used = resolve_threads(threads, n_rows * 8);
    const std::int64_t blocks = static_cast<std::int64_t>((n_rows + kBlockRows - 1) / kBlockRows);
#pragma omp parallel for num_threads(used) if (used > 1) schedule(static)
    for (std::int64_t b = 0; b < blocks; ++b) {
        const std::size_t begin = static_cast<std::size_t>(b) * kBlockRows;
        const std::size_t end = begin + kBlockRows < n_rows ? begin + kBlockRows : n_rows;
        if (!matrix)
            walk(tree, columns, begin, end, leaf);
        else if (columns[0].type == Column::Type::float64)
            walk_matrix<double>(tree, columns, begin, end, leaf);
        else
            walk_matrix<float>(tree, columns, begin, end, leaf);
    }
}

}  // namespace permissible::trees
