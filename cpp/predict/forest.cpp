// Trees outside, rows inside, in chunks of rows that stay in cache; each row's sum runs over the trees in their order.
#include "predict/forest.hpp"

#include <algorithm>

#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

constexpr std::size_t kRowsAtOnce = 512;

}  // namespace

void add_trees(const Codes& codes, const Forest& forest, int begin, int end, int threads, double* f) {
    const auto chunks = static_cast<std::ptrdiff_t>((codes.rows + kRowsAtOnce - 1) / kRowsAtOnce);
    const int used = resolve_threads(threads, codes.rows * static_cast<std::size_t>(std::max(1, end - begin)));
#pragma omp parallel for num_threads(used) schedule(static)
    for (std::ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
        const std::size_t low = chunk * kRowsAtOnce, high = std::min(codes.rows, low + kRowsAtOnce);
        for (int t = begin; t < end; ++t) {
            const int first = forest.first_node[t], r = forest.coordinate[t];
            const bool constant = forest.first_node[t + 1] == first;
            const CodedTree tree{forest.column + first, forest.left + first, forest.right + first,
                                 forest.mask + static_cast<std::size_t>(first) * 32};
            const double* value = forest.value + forest.first_value[t];
            for (std::size_t row = low; row < high; ++row) {
                const int leaf = constant ? 0 : tree.leaf_of(codes, row);
                double* out = f + row * forest.outputs;
                if (r >= 0)
                    out[r] += value[leaf];
                else
                    for (int k = 0; k < forest.outputs; ++k) out[k] += value[leaf * forest.outputs + k];
            }
        }
    }
}

}  // namespace permissible::mcboost
