// Codes without a branch, a few hundred rows of a column at a time, so that the rows' searches overlap: a linear map
// names a cell, the cell names the first threshold that may matter, and few steps of a binary search remain (all eight
// in a column so skewed that most thresholds fall into few cells).
#include "binning/encode.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/parallel.hpp"

namespace permissible::binning {

namespace {

constexpr size_t kChunk = 256;  // rows at a time: a chunk of a C-order matrix of 28 columns stays in the L2 cache
constexpr size_t kGroup = 64;   // blocks at a time: the searches of 10,000 columns at once would take 60 MiB

constexpr int kCells = 2048;
constexpr int kCellSteps = 3;  // more steps than this within a cell: search without cells

// Thresholds of one column, padded with +inf so that a search of 2^steps - 1 of them never ends outside.
template <typename T>
struct Ladder {
    int steps = 0;
    bool cells = false;
    T low = 0, scale = 0;
    uint8_t first[kCells];
    alignas(64) T rung[512];

    // Monotone in x, so thresholds of a lower cell lie below x and those of a higher cell above it. NaN goes to cell 0.
    int cell_of(T x) const {
        T cell = (x - low) * scale;
        cell = cell > T{0} ? cell : T{0};
        cell = cell < T{kCells - 1} ? cell : T{kCells - 1};
        return static_cast<int>(cell);
    }
};

// For float32 x: t < x iff (largest float32 <= t) < x, so the search may run in float32 and stay exact.
template <typename T>
T rounded_down(double threshold) {
    const double limit = static_cast<double>(std::numeric_limits<T>::max());
    if (threshold >= limit) return std::numeric_limits<T>::max();
    if (threshold < -limit) return -std::numeric_limits<T>::infinity();
    const T nearest = static_cast<T>(threshold);
    if (static_cast<double>(nearest) > threshold) return std::nextafter(nearest, -std::numeric_limits<T>::infinity());
    return nearest;
}

int steps_for(size_t thresholds) {
    int steps = 0;
    while ((size_t{1} << steps) <= thresholds) ++steps;
    return steps;
}

template <typename T>
void spread_cells(Ladder<T>& ladder, size_t n) {
    const T width = ladder.rung[n - 1] - ladder.rung[0];
    ladder.low = ladder.rung[0];
    ladder.scale = T{kCells} / width;
    if (!std::isnormal(width) || !std::isnormal(ladder.scale)) return;
    int count[kCells + 1] = {};
    for (size_t k = 0; k < n; ++k) ++count[ladder.cell_of(ladder.rung[k])];
    int below = 0, most = 0;
    for (int cell = 0; cell < kCells; ++cell) {
        ladder.first[cell] = static_cast<uint8_t>(below);
        below += count[cell];
        most = std::max(most, count[cell]);
    }
    if (steps_for(static_cast<size_t>(most)) > kCellSteps) return;
    ladder.cells = true;
    ladder.steps = steps_for(static_cast<size_t>(most));
}

template <typename T>
void build(Ladder<T>& ladder, const Coder& coder) {
    const size_t n = coder.n_thresholds;
    for (size_t k = 0; k < 512; ++k)
        ladder.rung[k] = k < n ? rounded_down<T>(coder.thresholds[k]) : std::numeric_limits<T>::infinity();
    ladder.steps = steps_for(n);
    if (ladder.steps > kCellSteps + 1) spread_cells(ladder, n);
}

template <int kSteps, typename T>
inline unsigned climb(const T* rung, T x, unsigned position) {
    for (int step = kSteps - 1; step >= 0; --step) {
        const unsigned half = 1u << step;
        position += rung[position + half - 1] < x ? half : 0u;
    }
    return position;
}

template <int kSteps, bool kUseCells, typename T>
void search(const T* value, const Ladder<T>& ladder, size_t n, uint8_t* code) {
    for (size_t i = 0; i < n; ++i) {
        const T x = value[i];
        const unsigned start = kUseCells ? ladder.first[ladder.cell_of(x)] : 0u;
        const unsigned position = climb<kSteps>(ladder.rung, x, start);
        code[i] = x != x ? kMissingCode : static_cast<uint8_t>(position);
    }
}

/// A search of this many steps, among the thresholds of a cell or among all.
template <typename T>
void search(const T* value, const Ladder<T>& ladder, size_t n, uint8_t* code) {
    using Search = void (*)(const T*, const Ladder<T>&, size_t, uint8_t*);
    static constexpr Search kInCell[] = {search<0, true>, search<1, true>, search<2, true>, search<3, true>};
    static constexpr Search kPlain[] = {search<0, false>, search<1, false>, search<2, false>,
                                        search<3, false>, search<4, false>, search<5, false>,
                                        search<6, false>, search<7, false>, search<8, false>};
    (ladder.cells ? kInCell : kPlain)[ladder.steps](value, ladder, n, code);
}

void encode_category(const ColumnView& column, const Coder& coder, size_t first, size_t n, uint8_t* code) {
    for (size_t i = 0; i < n; ++i) {
        const int32_t category = *column.at<int32_t>(first + i);
        if (category == -1)
            code[i] = kMissingCode;
        else
            code[i] = category >= 0 && static_cast<size_t>(category) < coder.n_categories
                          ? coder.code_of_category[category]
                          : kOtherCode;
    }
}

/// The searches of the columns [first, last).
struct Plan {
    size_t first;
    std::vector<Ladder<double>> wide;
    std::vector<Ladder<float>> narrow;
    std::vector<size_t> at;

    const Ladder<double>& wide_of(size_t column) const { return wide[at[column - first]]; }
    const Ladder<float>& narrow_of(size_t column) const { return narrow[at[column - first]]; }
};

Plan plan_of(const std::vector<ColumnView>& columns, const std::vector<Coder>& coders, size_t first, size_t last) {
    Plan plan{first, {}, {}, {}};
    size_t n_wide = 0, n_narrow = 0;
    for (size_t j = first; j < last; ++j) {
        plan.at.push_back(columns[j].type == ColumnType::float64 ? n_wide : n_narrow);
        n_wide += columns[j].type == ColumnType::float64;
        n_narrow += columns[j].type == ColumnType::float32;
    }
    plan.wide.resize(n_wide);
    plan.narrow.resize(n_narrow);
    for (size_t j = first; j < last; ++j) {
        if (columns[j].type == ColumnType::float64) build(plan.wide[plan.at[j - first]], coders[j]);
        if (columns[j].type == ColumnType::float32) build(plan.narrow[plan.at[j - first]], coders[j]);
    }
    return plan;
}

using Lanes = uint8_t[8][kChunk];

// Eight columns of codes to rows of eight: byte (i, lane) of `out` is lanes[lane][i].
void interleave(const Lanes& lanes, size_t n, uint8_t* out) {
    size_t i = 0;
#ifdef __SSE2__
    for (; i + 16 <= n; i += 16) {
        __m128i a[8], b[8];
        for (int k = 0; k < 8; ++k) a[k] = _mm_load_si128(reinterpret_cast<const __m128i*>(lanes[k] + i));
        for (int k = 0; k < 4; ++k) {  // pairs of lanes, rows 0-7 and 8-15
            b[k] = _mm_unpacklo_epi8(a[2 * k], a[2 * k + 1]);
            b[k + 4] = _mm_unpackhi_epi8(a[2 * k], a[2 * k + 1]);
        }
        auto* to = reinterpret_cast<__m128i*>(out + i * 8);
        for (int half = 0; half < 2; ++half) {
            const __m128i* p = b + 4 * half;
            const __m128i low01 = _mm_unpacklo_epi16(p[0], p[1]), low23 = _mm_unpacklo_epi16(p[2], p[3]);
            const __m128i high01 = _mm_unpackhi_epi16(p[0], p[1]), high23 = _mm_unpackhi_epi16(p[2], p[3]);
            _mm_storeu_si128(to + 4 * half + 0, _mm_unpacklo_epi32(low01, low23));
            _mm_storeu_si128(to + 4 * half + 1, _mm_unpackhi_epi32(low01, low23));
            _mm_storeu_si128(to + 4 * half + 2, _mm_unpacklo_epi32(high01, high23));
            _mm_storeu_si128(to + 4 * half + 3, _mm_unpackhi_epi32(high01, high23));
        }
    }
#endif
    for (; i < n; ++i)
        for (int lane = 0; lane < 8; ++lane) out[i * 8 + lane] = lanes[lane][i];
}

// One chunk of rows of one block of 8 columns.
void encode_chunk(const std::vector<ColumnView>& columns, const std::vector<Coder>& coders, const Plan& plan,
                  size_t block, size_t first, size_t n, uint8_t* out) {
    alignas(64) double wide[kChunk];
    alignas(64) float narrow[kChunk];
    alignas(64) Lanes lanes;
    for (size_t lane = 0; lane < 8; ++lane) {
        const size_t j = block * 8 + lane;
        if (j >= columns.size()) {
            std::memset(lanes[lane], 0, n);
            continue;
        }
        switch (columns[j].type) {
            case ColumnType::float64:
                load(columns[j], first, n, wide);
                search(wide, plan.wide_of(j), n, lanes[lane]);
                break;
            case ColumnType::float32:
                load(columns[j], first, n, narrow);
                search(narrow, plan.narrow_of(j), n, lanes[lane]);
                break;
            case ColumnType::category: encode_category(columns[j], coders[j], first, n, lanes[lane]); break;
        }
    }
    interleave(lanes, n, out);
}

}  // namespace

void encode(const std::vector<ColumnView>& columns, const std::vector<Coder>& coders, uint8_t* blocks, size_t n_rows,
            int n_threads) {
    const size_t n_blocks = (columns.size() + 7) / 8;
    const auto n_chunks = static_cast<int64_t>((n_rows + kChunk - 1) / kChunk);
    [[maybe_unused]] const int threads = resolve_threads(n_threads, n_rows * columns.size());
    for (size_t begin = 0; begin < n_blocks; begin += kGroup) {
        const size_t end = std::min(n_blocks, begin + kGroup);
        const Plan plan = plan_of(columns, coders, begin * 8, std::min(columns.size(), end * 8));
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
            const size_t first = static_cast<size_t>(chunk) * kChunk;
            const size_t n = std::min(kChunk, n_rows - first);
            for (size_t block = begin; block < end; ++block)
                encode_chunk(columns, coders, plan, block, first, n, blocks + (block * n_rows + first) * 8);
        }
    }
}

}  // namespace permissible::binning
