// The cuts of one column at one node, and the best of them. A cut sends some codes left; its gain is the decrease (49)
// of the surrogate. Ties go to the cut seen first: missing right before missing left, low codes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "losses/impurity.hpp"

namespace permissible::trees {

/// Noise of the doubles in a gain, relative to the node's weight: below it a gain is 0 and two gains are a tie.
inline constexpr double kGainNoise = 1e-14;
inline constexpr double kTie = 1e-12;
/// Multiclass subset splits order the categories by the probability of each of at most this many classes in turn.
inline constexpr int kOrders = 8;

/// `order` of a cut on a column of numbers, and of the cut between present and missing values, which has no direction.
inline constexpr int kNumeric = -1, kPresence = -2;

/// How a node may be split: the same for every column.
struct Limits {
    double min_samples = 1;
    double min_weight = 0;
    double min_gain = 0;
};

/// The layout of one column's run of a histogram.
template <typename Sum>
struct Run {
    const Sum* sums;
    int codes;  // slots are codes + 1, the last one for missing values
    int classes;
    bool counted;
    bool categorical;
    double unit;  // weight of one integer step
    const Sum* channel(int c) const { return sums + static_cast<std::size_t>(c) * (codes + 1); }
    const Sum* counts() const { return channel(classes); }
};

struct BestCut {
    double gain = 0;  // 0: no admissible cut
    int column = -1;
    int code = -1;  // numeric: last code that goes left; categorical: how many categories of the order go left
    bool missing_left = false;
    int order = -1;  // categorical: the class whose probability orders the categories
};

/// Candidate cuts, class-major: left[c * capacity + i] is the weight of class c that cut i sends left.
struct Cuts {
    std::size_t capacity, count = 0;
    int classes;
    std::vector<double> left, right, left_value, right_value, left_samples, right_samples;
    std::vector<int> code;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int16_t> order;

    Cuts(int n_classes, std::size_t room);
    void evaluate(const Impurity& impurity);
};

/// How many cuts a column can have.
inline std::size_t most_cuts(int codes, bool categorical, int classes) {
    const std::size_t slots = static_cast<std::size_t>(codes) + 1;
    return categorical ? slots * (classes == 2 ? 1 : std::min(classes, kOrders)) : 2 * slots + 1;
}

/// The node as the choice of a cut sees it.
struct NodeView {
    double value;      // its impurity
    double weight;     // its total weight
    double low, high;  // bounds on the probability of its parts (monotone constraints)
};

/// Appends the cuts of a column to `cuts`. `totals`: channel sums of the node.
template <typename Sum>
void list_cuts(const Run<Sum>& run, const std::int64_t* totals, Cuts& cuts);

/// The best admissible one among the evaluated cuts begin..end of a column; gain 0 when there is none.
BestCut choose_cut(const Cuts& cuts, std::size_t begin, std::size_t end, const NodeView& node, const Limits& limits,
                   int monotone);

/// The categories (and `codes` for missing) present at the node, by increasing probability of class `order`, then code.
template <typename Sum>
std::vector<int> category_order(const Run<Sum>& run, int order);

}  // namespace permissible::trees
