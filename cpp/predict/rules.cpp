// The prediction kernels.
#include "predict/rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/parallel.hpp"

namespace permissible::rules {

namespace {

constexpr std::size_t kRows = kScoreRows;

/// 255 where the value passes, else 0; a NaN compares false both ways.
template <typename T>
PERMISSIBLE_CLONES void compare(const T* values, ValueTest test, bool missing, T threshold, uint8_t* out) {
    if (test == ValueTest::at_most) {
        for (std::size_t i = 0; i < kRows; ++i) out[i] = values[i] <= threshold ? 255 : 0;
    } else if (test == ValueTest::above) {
        for (std::size_t i = 0; i < kRows; ++i) out[i] = values[i] > threshold ? 255 : 0;
    } else {
        const uint8_t yes = test == ValueTest::missing ? 255 : 0, no = static_cast<uint8_t>(~yes);
        for (std::size_t i = 0; i < kRows; ++i) out[i] = values[i] != values[i] ? yes : no;
        return;
    }
    if (missing) {
        for (std::size_t i = 0; i < kRows; ++i) out[i] |= values[i] != values[i] ? 255 : 0;
    }
}

void look_up(const int32_t* values, const uint8_t* member, uint8_t* out) {
    for (std::size_t i = 0; i < kRows; ++i) out[i] = member[values[i] + 2] ? 255 : 0;
}

PERMISSIBLE_CLONES
void and_masks(const uint8_t* more, uint8_t* mask) {
    for (std::size_t i = 0; i < kRows; ++i) mask[i] &= more[i];
}

PERMISSIBLE_CLONES
void add_bit(const uint8_t* mask, uint8_t bit, uint8_t* pattern) {
    for (std::size_t i = 0; i < kRows; ++i) pattern[i] = static_cast<uint8_t>(pattern[i] | (mask[i] & bit));
}

void score_chunk(const ScoreInput& input, const RuleSet& set, std::size_t begin, std::size_t n, ScoreSpace& space,
                 double* score) {
    gather_columns(input, begin, n, space);
    const std::vector<ColumnView>& columns = input.columns;
    for (std::size_t k = 0; k < set.literals.size(); ++k) {
        const ValueLiteral& literal = set.literals[k];
        const auto c = static_cast<std::size_t>(literal.column);
        const char* values = space.values.data() + input.place(c);
        uint8_t* mask = space.masks.data() + k * kRows;
        if (columns[c].type == ColumnType::float64) {
            compare(reinterpret_cast<const double*>(values), literal.test, literal.missing, literal.threshold, mask);
        } else if (columns[c].type == ColumnType::float32) {
            compare(reinterpret_cast<const float*>(values), literal.test, literal.missing,
                    float_below(literal.threshold), mask);
        } else {
            look_up(reinterpret_cast<const int32_t*>(values), literal.member, mask);
        }
    }
    uint8_t pattern[kRows], mask[kRows];
    double sums[kRows];
    std::fill(sums, sums + n, set.intercept);
    for (std::size_t start = 0; start < set.rules.size(); start += 8) {
        std::fill(pattern, pattern + kRows, uint8_t{0});
        const std::size_t end = std::min(start + 8, set.rules.size());
        for (std::size_t r = start; r < end; ++r) {
            const std::vector<int>& rule = set.rules[r];
            const auto bit = static_cast<uint8_t>(1u << (r - start));
            if (rule.size() == 1) {
                add_bit(space.masks.data() + static_cast<std::size_t>(rule[0]) * kRows, bit, pattern);
                continue;
            }
            std::fill(mask, mask + kRows, uint8_t{255});
            for (const int k : rule) and_masks(space.masks.data() + static_cast<std::size_t>(k) * kRows, mask);
            add_bit(mask, bit, pattern);
        }
        const double* sum = set.group_sum[start / 8].data();
        for (std::size_t i = 0; i < n; ++i) sums[i] += sum[pattern[i]];
    }
    std::copy(sums, sums + n, score);
}

}  // namespace

void RuleSet::fill_sums(const double* coefficients) {
    group_sum.clear();
    for (std::size_t start = 0; start < rules.size(); start += 8) {
        const std::size_t count = std::min<std::size_t>(8, rules.size() - start);
        std::array<double, 256> sums{};
        for (std::size_t pattern = 0; pattern < 256; ++pattern) {
            double sum = 0.0;
            for (std::size_t k = 0; k < count; ++k) {
                sum += (pattern >> k) & 1 ? coefficients[start + k] : -coefficients[start + k];
            }
            sums[pattern] = sum;
        }
        group_sum.push_back(sums);
    }
}

ScoreInput::ScoreInput(const std::vector<ColumnView>& used) : columns(used) {
    for (std::size_t c = 0; c < columns.size(); ++c) places.push_back(c * kRows * 8);
    if (columns.empty() || columns[0].type == ColumnType::category || !have_avx2()) return;
    const auto address = [](const ColumnView& view) { return reinterpret_cast<std::uintptr_t>(view.data); };
    const std::size_t item = columns[0].type == ColumnType::float32 ? 4 : 8;
    std::uintptr_t low = address(columns[0]), high = low;
    for (const ColumnView& view : columns) {
        if (view.type != columns[0].type || view.stride != columns[0].stride || view.stride <= 0) return;
        low = std::min(low, address(view));
        high = std::max(high, address(view));
    }
    const std::size_t span = (high - low) / item + 1;
    // One row must hold all of them, and most of what lies between must be used.
    if (span > static_cast<std::size_t>(columns[0].stride) || span > 2 * columns.size()) return;
    base = reinterpret_cast<const char*>(low);
    stride = columns[0].stride * static_cast<std::ptrdiff_t>(item);
    width = span;
    for (std::size_t c = 0; c < columns.size(); ++c) places[c] = (address(columns[c]) - low) * kRows;
}

std::size_t ScoreInput::gathered_bytes() const { return std::max(columns.size(), width) * kRows * 8; }

ScoreSpace::ScoreSpace(const ScoreInput& input, const RuleSet& set)
    : values(input.gathered_bytes()), masks(set.literals.size() * kRows), patterns(set.group_sum.size() * kRows) {}

void gather_columns(const ScoreInput& input, std::size_t begin, std::size_t n, ScoreSpace& space) {
    for (std::size_t c = 0; c < input.columns.size(); ++c) {
        const ColumnView& view = input.columns[c];
        char* to = space.values.data() + input.place(c);
        if (view.type == ColumnType::float64) {
            load(view, begin, n, reinterpret_cast<double*>(to));
        } else if (view.type == ColumnType::float32) {
            load(view, begin, n, reinterpret_cast<float*>(to));
        } else {
            load(view, begin, n, reinterpret_cast<int32_t*>(to));
        }
    }
}

void score_rows(const std::vector<ColumnView>& columns, const RuleSet& set, std::size_t n_rows, int n_threads,
                double* score) {
    const std::size_t n_chunks = (n_rows + kRows - 1) / kRows;
    const int threads = resolve_threads(n_threads, n_rows * std::max<std::size_t>(set.literals.size(), 1));
    const ScoreInput input(columns);
    const auto chunk_of = have_avx2() ? score_chunk_avx2 : score_chunk;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        ScoreSpace space(input, set);
#pragma omp for schedule(static)
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
            const std::size_t begin = chunk * kRows;
            chunk_of(input, set, begin, std::min(kRows, n_rows - begin), space, score + begin);
        }
    }
}

}  // namespace permissible::rules
