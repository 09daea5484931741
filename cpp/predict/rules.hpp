// Scores of rules on raw values, without binning. 128 rows at a time: the used columns are gathered, each distinct
// literal becomes a byte per row, eight rules become one byte pattern per row, and a table of 256 sums turns a pattern
// into what the eight rules add. The sum is that of models/kinds/rules.py: in groups of eight, first to last.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/columns.hpp"

namespace permissible::rules {

enum class ValueTest : uint8_t { at_most = 0, above = 1, missing = 2, present = 3, category = 4 };

struct ValueLiteral {
    int column = 0;  // position among the used columns
    ValueTest test = ValueTest::at_most;
    bool missing = false;
    double threshold = 0.0;
    const uint8_t* member = nullptr;  // of category + 2: unseen, missing, then the categories
};

struct RuleSet {
    std::vector<ValueLiteral> literals;              // each distinct one once
    std::vector<std::vector<int>> rules;             // positions among the literals
    std::vector<std::array<double, 256>> group_sum;  // per group of eight rules, what each pattern adds
    double intercept = 0.0;

    void fill_sums(const double* coefficients);
};

/// The largest float that is not above t: x <= t in doubles is x <= that, for a float x.
inline float float_below(double t) {
    const auto near = static_cast<float>(t);
    return static_cast<double>(near) > t ? std::nextafterf(near, -std::numeric_limits<float>::infinity()) : near;
}

inline constexpr std::size_t kScoreRows = 128;  // rows that are scored together

/// The used columns; where they are views of one row-major matrix, `base` is its first used value and `width` its
/// columns.
struct ScoreInput {
    std::vector<ColumnView> columns;
    const char* base = nullptr;
    std::ptrdiff_t stride = 0;
    std::size_t width = 0;
    std::vector<std::size_t> places;  // of each used column in the gathered values, in bytes

    explicit ScoreInput(const std::vector<ColumnView>& used);
    std::size_t place(std::size_t column) const { return places[column]; }
    std::size_t gathered_bytes() const;
};

/// Buffers of one thread.
struct ScoreSpace {
    std::vector<char> values;
    std::vector<uint8_t> masks, patterns;

    ScoreSpace(const ScoreInput& input, const RuleSet& set);
};

void gather_columns(const ScoreInput& input, std::size_t begin, std::size_t n, ScoreSpace& space);
bool have_avx2();
void score_chunk_avx2(const ScoreInput& input, const RuleSet& set, std::size_t begin, std::size_t n, ScoreSpace& space,
                      double* score);

void score_rows(const std::vector<ColumnView>& columns, const RuleSet& set, std::size_t n_rows, int n_threads,
                double* score);

}  // namespace permissible::rules
