// The best split of one column of one leaf, from its histogram. A side with sums G, H is worth G^2 / (H + l2), in units
// of the integer sums; the law: worths are elementwise IEEE operations on integers, so nothing else decides a split;
// ties go to the smallest cut.
#pragma once

#include <cstdint>

#include "trees/boosted/growth/histogram.hpp"
#include "trees/boosted/tree.hpp"

namespace permissible::boosted {

/// What holds for all splits of a leaf.
struct ScanLimits {
    float l2 = 0.0f;              // on the grid of curvatures
    int32_t least_curvature = 1;  // of either side
    // Of categorical columns: added to the curvature of each code for sorting, and to that of both sides.
    float category_smoothing = 0.0f, category_l2 = 0.0f;
    int most_categories = 255;  // on the smaller side
    // Monotone constraints: the values that this leaf may have, in units of gradient over curvature.
    bool bounded = false;
    double low = 0.0, high = 0.0;
    // Rules: the rows outside of this leaf join the side that is not inside.
    bool rule = false;
    Sums outside;
    const uint8_t* used = nullptr;  // of bundles: a flag for each column that was given
};

struct Candidate {
    float worth = 0.0f;  // of both sides together; 0: none
    Split split;         // test, cut or set
    Sums left;
    double value_left = 0.0, value_right = 0.0;  // where bounded
    bool inside_left = true;                     // of a rule: which side its next literal divides
};

/// The direction in which a split may move the score; one between present and missing values has none.
inline int direction_of(const Column& column, Test test, int cut) {
    return test == Test::missing_right && cut + 1 >= column.bins ? 0 : column.monotone;
}

/// The best split of a column, if any; `total` are the sums of the leaf.
Candidate scan_column(const Column& column, const int64_t* cells, int width, Sums total, const ScanLimits& limits);

}  // namespace permissible::boosted
