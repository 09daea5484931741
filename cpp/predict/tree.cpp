#include "predict/tree.hpp"

#include <cmath>

#include "common/codes.hpp"
#include "common/parallel.hpp"

namespace permissible::trees {
namespace {

inline int category_code(const Nodes& tree, const ColumnView& column, std::size_t j, std::size_t row) {
    const std::int32_t category = *column.at<std::int32_t>(row);
    if (category == -1) return kMissingCode;
    const std::int64_t known = tree.category_begin[j + 1] - tree.category_begin[j];
    if (category < 0 || category >= known) return tree.other;
    return tree.code_of_category[tree.category_begin[j] + category];
}

/// One step down from `node` for `row`.
inline std::int32_t child(const Nodes& tree, const std::vector<ColumnView>& columns, std::int32_t node,
                          std::size_t row) {
    const std::size_t j = tree.column[node];
    const std::uint8_t* set = tree.left_set + static_cast<std::size_t>(node) * 32;
    bool left;
    if (tree.test[node] == 2) {
        left = in_set(set, category_code(tree, columns[j], j, row));
    } else {
        const double x = columns[j].number(row);
        // A test for missing has threshold +inf: every present value goes left.
        left = std::isnan(x) ? in_set(set, kMissingCode) : x <= tree.threshold[node];
    }
    return left ? tree.left[node] : tree.right[node];
}

/// A node as the walk over a matrix reads it. A leaf leads to itself.
struct Step {
    double threshold;
    std::int32_t column;
    std::int32_t child[2];
    std::int32_t missing_left;
};

std::vector<Step> steps_of(const Nodes& tree) {
    std::vector<Step> steps(tree.n_nodes);
    for (std::size_t k = 0; k < tree.n_nodes; ++k) {
        const auto self = static_cast<std::int32_t>(k);
        if (tree.left[k] < 0)
            steps[k] = {0.0, 0, {self, self}, 0};
        else
            steps[k] = {tree.threshold[k],
                        tree.column[k],
                        {tree.left[k], tree.right[k]},
                        in_set(tree.left_set + k * 32, kMissingCode)};
    }
    return steps;
}

/// Numeric matrix in row order: the common case. Eight rows descend together to hide memory latency, and the side is
/// chosen by arithmetic: a branch would be mispredicted half of the time.
template <typename Number>
void walk_matrix(const std::vector<Step>& steps, const std::vector<ColumnView>& columns, std::size_t begin,
                 std::size_t end, std::int32_t* leaf) {
    constexpr std::size_t kTogether = 8;
    for (std::size_t at = begin; at < end; at += kTogether) {
        const Number* row[kTogether];
        std::int32_t node[kTogether] = {};
        for (std::size_t i = 0; i < kTogether; ++i) {
            const std::size_t r = at + i < end ? at + i : end - 1;  // the last rows are visited twice, harmlessly
            row[i] = columns[0].at<Number>(r);
        }
        std::int32_t moved;
        do {
            moved = 0;
            for (std::size_t i = 0; i < kTogether; ++i) {
                const Step& step = steps[node[i]];
                const double x = row[i][step.column];
                const int right = !(x <= step.threshold) & !((x != x) & step.missing_left);
                moved |= step.child[right] ^ node[i];
                node[i] = step.child[right];
            }
        } while (moved);
        for (std::size_t i = 0; i < kTogether && at + i < end; ++i) leaf[at + i] = node[i];
    }
}

void walk(const Nodes& tree, const std::vector<ColumnView>& columns, std::size_t begin, std::size_t end,
          std::int32_t* leaf) {
    for (std::size_t row = begin; row < end; ++row) {
        std::int32_t node = 0;
        while (tree.left[node] >= 0) node = child(tree, columns, node, row);
        leaf[row] = node;
    }
}

/// Whether the columns are those of one row-ordered matrix, of the type of the first.
bool is_matrix(const std::vector<ColumnView>& columns) {
    if (columns.empty() || columns[0].type == ColumnType::category) return false;
    const std::size_t size = columns[0].type == ColumnType::float64 ? 8 : 4;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (columns[j].type != columns[0].type || columns[j].stride != columns[0].stride ||
            columns[j].data != static_cast<const char*>(columns[0].data) + j * size)
            return false;
    }
    return true;
}

}  // namespace

void find_leaves(const Nodes& tree, const std::vector<ColumnView>& columns, std::size_t n_rows, std::int32_t* leaf,
                 int threads) {
    const bool matrix = is_matrix(columns);
    const std::vector<Step> steps = matrix ? steps_of(tree) : std::vector<Step>();
    const int used = resolve_threads(threads, n_rows * 8);
    const std::int64_t blocks = static_cast<std::int64_t>((n_rows + kBlockRows - 1) / kBlockRows);
#pragma omp parallel for num_threads(used) if (used > 1) schedule(static)
    for (std::int64_t b = 0; b < blocks; ++b) {
        const std::size_t begin = static_cast<std::size_t>(b) * kBlockRows;
        const std::size_t end = begin + kBlockRows < n_rows ? begin + kBlockRows : n_rows;
        if (!matrix)
            walk(tree, columns, begin, end, leaf);
        else if (columns[0].type == ColumnType::float64)
            walk_matrix<double>(steps, columns, begin, end, leaf);
        else
            walk_matrix<float>(steps, columns, begin, end, leaf);
    }
}

}  // namespace permissible::trees
