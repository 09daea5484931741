// A branchless search, the same steps for every row, over a few hundred rows at a time: the rows' searches overlap.
#include "binning/encode.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "common/parallel.hpp"

namespace permissible::binning {

namespace {

constexpr size_t kChunk = 256;  // rows at a time: a chunk of a C-order matrix of 28 columns stays in the L2 cache

// Thresholds of one column, padded with +inf to 2^steps - 1 entries.
template <typename T>
struct Ladder {
    int steps;
    alignas(64) T rung[256];
};

// For float32 x: t < x iff (largest float32 <= t) < x, so the search may run in float32 and stay exact.
template <typename T>
T rounded_down(double threshold) {
    const T nearest = static_cast<T>(threshold);
    if (static_cast<double>(nearest) > threshold) return std::nextafter(nearest, -std::numeric_limits<T>::infinity());
    return nearest;
}

template <typename T>
Ladder<T> ladder_of(const Coder& coder) {
    Ladder<T> ladder;
    ladder.steps = 0;
    while ((size_t{1} << ladder.steps) <= coder.n_thresholds) ++ladder.steps;
    for (size_t k = 0; k < 256; ++k)
        ladder.rung[k] =
            k < coder.n_thresholds ? rounded_down<T>(coder.thresholds[k]) : std::numeric_limits<T>::infinity();
    return ladder;
}

template <typename T>
using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

template <typename T>
inline void search_body(const T* value, const Ladder<T>& ladder, size_t n, uint8_t* code) {
    Index<T> position[kChunk];
    for (size_t i = 0; i < n; ++i) position[i] = 0;
    for (int step = ladder.steps - 1; step >= 0; --step) {
        const Index<T> half = Index<T>{1} << step;
        const T* rung = ladder.rung + half - 1;
        for (size_t i = 0; i < n; ++i) position[i] += rung[position[i]] < value[i] ? half : Index<T>{0};
    }
    for (size_t i = 0; i < n; ++i) code[i] = value[i] != value[i] ? kMissing : static_cast<uint8_t>(position[i]);
}

PERMISSIBLE_CLONES void search64(const double* value, const Ladder<double>& ladder, size_t n, uint8_t* code) {
    search_body<double>(value, ladder, n, code);
}

PERMISSIBLE_CLONES void search32(const float* value, const Ladder<float>& ladder, size_t n, uint8_t* code) {
    search_body<float>(value, ladder, n, code);
}

template <typename T>
void load(const ColumnView& column, size_t first, size_t n, T* value) {
    const T* source = column.at<T>(first);
    if (column.stride == 1) {
        std::memcpy(value, source, n * sizeof(T));
        return;
    }
    for (size_t i = 0; i < n; ++i) value[i] = source[static_cast<int64_t>(i) * column.stride];
}

void encode_category(const ColumnView& column, const Coder& coder, size_t first, size_t n, uint8_t* code) {
    for (size_t i = 0; i < n; ++i) {
        const int32_t category = *column.at<int32_t>(first + i);
        if (category == -1)
            code[i] = kMissing;
        else
            code[i] = category >= 0 && static_cast<size_t>(category) < coder.n_categories
                          ? coder.code_of_category[category]
                          : kOther;
    }
}

struct Plan {
    std::vector<Ladder<double>> wide;
    std::vector<Ladder<float>> narrow;
    std::vector<size_t> at;
};

Plan plan_of(const std::vector<ColumnView>& columns, const std::vector<Coder>& coders) {
    Plan plan;
    for (size_t j = 0; j < columns.size(); ++j) {
        if (columns[j].type == Type::float64) {
            plan.at.push_back(plan.wide.size());
            plan.wide.push_back(ladder_of<double>(coders[j]));
        } else if (columns[j].type == Type::float32) {
            plan.at.push_back(plan.narrow.size());
            plan.narrow.push_back(ladder_of<float>(coders[j]));
        } else {
            plan.at.push_back(0);
        }
    }
    return plan;
}

// One chunk of rows of one block of 8 columns.
void encode_chunk(const std::vector<ColumnView>& columns, const std::vector<Coder>& coders, const Plan& plan,
                  size_t block, size_t first, size_t n, uint8_t* out) {
    alignas(64) double wide[kChunk];
    alignas(64) float narrow[kChunk];
    alignas(64) uint8_t code[kChunk];
    std::memset(out, 0, n * 8);
    for (size_t lane = 0; lane < 8 && block * 8 + lane < columns.size(); ++lane) {
        const size_t j = block * 8 + lane;
        switch (columns[j].type) {
            case Type::float64:
                load(columns[j], first, n, wide);
                search64(wide, plan.wide[plan.at[j]], n, code);
                break;
            case Type::float32:
                load(columns[j], first, n, narrow);
                search32(narrow, plan.narrow[plan.at[j]], n, code);
                break;
            case Type::category:
                encode_category(columns[j], coders[j], first, n, code);
                break;
        }
        for (size_t i = 0; i < n; ++i) out[i * 8 + lane] = code[i];
    }
}

}  // namespace

void encode(const std::vector<ColumnView>& columns, const std::vector<Coder>& coders, uint8_t* blocks, size_t n_rows,
            int n_threads) {
    const Plan plan = plan_of(columns, coders);
    const size_t n_blocks = (columns.size() + 7) / 8;
    const auto n_chunks = static_cast<int64_t>((n_rows + kChunk - 1) / kChunk);
    [[maybe_unused]] const int threads = resolve_threads(n_threads, n_rows * columns.size());
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const size_t first = static_cast<size_t>(chunk) * kChunk;
        const size_t n = std::min(kChunk, n_rows - first);
        for (size_t block = 0; block < n_blocks; ++block)
            encode_chunk(columns, coders, plan, block, first, n, blocks + (block * n_rows + first) * 8);
    }
}

}  // namespace permissible::binning
