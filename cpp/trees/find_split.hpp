// The best cut of a node, from its histogram alone, so histograms may come from workers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "losses/impurity.hpp"
#include "trees/cuts.hpp"

namespace permissible::trees {

enum class Test : std::int8_t { leaf = -1, numeric = 0, missing = 1, categorical = 2 };

struct Options {
    std::int64_t max_leaf_nodes = 31;
    std::int64_t max_depth = -1;  // -1: no limit
    Limits limits;
    double unit = 1.0;
    int threads = 1;
    bool name_leaves = false;
    std::vector<std::uint8_t> categorical;
    std::vector<std::int8_t> monotone;
    std::function<void()> poll;  // called between splits; throws when the user interrupts
};

/// A gain without its last bits, so that leaves of equal gain tie and the older one is first.
inline double coarse(double gain) {
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(gain) + (1ull << 11)) & ~((1ull << 12) - 1));
}

/// A cut in full: which codes go left (unseen ones too), and the weight of the left side.
struct NodeFindings {
    BestCut cut = {};  // column -1: there is none
    Test test = Test::leaf;
    std::array<std::uint8_t, 256> goes_left{};
    std::vector<std::int64_t> left_totals = {};
};

template <typename Sum>
class SplitFinder {
  public:
    SplitFinder(std::vector<int> codes, int classes, bool counted, const Impurity& impurity, const Options& options);

    /// `totals`: channel sums of the node.
    NodeFindings find_split(const Sum* histogram, const std::vector<std::int64_t>& totals, double low, double high);

    std::size_t size() const { return offsets_.back(); }
    int channels() const { return classes_ + (counted_ ? 1 : 0); }
    double weight(const std::vector<std::int64_t>& totals) const;
    double value(const std::vector<std::int64_t>& totals) const;

  private:
    std::vector<int> codes_;
    int classes_;
    bool counted_;
    const Impurity& impurity_;
    const Options& options_;
    std::vector<std::size_t> offsets_, rooms_,
        begins_;              // per column: its run, the most cuts it can have, its first cut
    std::vector<Cuts> cuts_;  // one per thread
    std::vector<BestCut> found_;

    Run<Sum> run_of(const Sum* histogram, std::size_t column) const;
    void search_columns(const Sum* histogram, const std::vector<std::int64_t>& totals, const NodeView& view, Cuts& cuts,
                        std::size_t begin, std::size_t end);
    void spell_out(NodeFindings& choice, const Run<Sum>& run, const std::vector<std::int64_t>& totals) const;
};

}  // namespace permissible::trees
