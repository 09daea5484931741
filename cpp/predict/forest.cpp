// Trees outside, rows inside, in chunks of rows that stay in cache; each row's sum runs over the trees in their order.
#include "predict/forest.hpp"

#include <algorithm>

#include "common/parallel.hpp"

namespace permissible::mcboost {

namespace {

constexpr std::size_t kRowsAtOnce = 512;

int leaf_of(const Codes& codes, const Forest& forest, int first, std::size_t row) {
    int node = 0;
    do {
        const int at = first + node;
        const uint8_t code = codes.column(forest.column[at])[row * 8];
        const uint8_t* mask = forest.mask + static_cast<std::size_t>(at) * 32;
        node = (mask[code >> 3] >> (code & 7)) & 1 ? forest.left[at] : forest.right[at];
    } while (node >= 0);
    return ~node;
}

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
            const double* value = forest.value + forest.first_value[t];
            for (std::size_t row = low; row < high; ++row) {
                const int leaf = constant ? 0 : leaf_of(codes, forest, first, row);
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
