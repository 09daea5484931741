// Growth of one tree on given gradients and curvatures, best leaf first. The law: a split is decided by integer sums
// alone, so threads, the order of rows and their parts do not show. The larger child's histogram is the parent's minus
// the smaller child's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "trees/boosted/growth/histogram.hpp"
#include "trees/boosted/growth/scan.hpp"
#include "trees/boosted/tree.hpp"

namespace permissible::boosted {

struct TreeOptions {
    int max_leaf_nodes = 31;
    int max_depth = 0;              // 0: any
    double min_samples_leaf = 1.0;  // estimated from curvatures: a side's share of them is its share of the rows
    double min_curvature = 0.0;     // sum of curvatures of a leaf
    double l2 = 1.0;
    double min_gain = 0.0;
    double category_smoothing = 1.0, category_l2 = 20.0;  // of the sort of categories, and of a set split
    int most_categories = 255;
    std::vector<std::vector<uint8_t>> interactions;  // groups of columns, a flag a column; empty: any with any
    bool rule = false;  // a conjunction of max_leaf_nodes - 1 literals: the rows that pass all, and all others
    int threads = 1;
};

/// The rows that a search looks at: all, or a sample whose gradients were divided by their probabilities. Rows that lie
/// elsewhere have no codes here; `sum` asks them for the cells of one leaf under these splits, and then their total.
struct SearchRows {
    const Codes* codes = nullptr;
    const int64_t* packed = nullptr;  // gradient and curvature of each row on the grids
    double gradient_grid = 1.0, curvature_grid = 1.0;
    double weight = 0.0;  // number of rows searched, copies counted
    double share = 1.0;   // of all rows
    std::function<void(const std::vector<Split>& splits, uint8_t wanted, int64_t* cells)> sum = nullptr;
};

class Grower {
  public:
    Grower(std::vector<Column> columns, TreeOptions options);
    /// `used`: a flag for each column that was given, those of bundles one by one.
    Tree grow(const SearchRows& rows, const std::vector<uint8_t>& used);
    const std::vector<Column>& columns() const { return columns_; }
    std::size_t given() const { return given_; }  // columns, those of bundles one by one
    TreeOptions& options() { return options_; }
    std::size_t cells() const { return layout_.size() + 1; }

  private:
    struct Leaf {
        Sums sums;
        std::size_t slot = 0;  // of its histogram
        int depth = 0;
        double low = 0.0, high = 0.0;  // bounds of its value, in units of the grids
        std::vector<uint8_t> groups;   // interaction groups that hold all columns above
        bool closed = false;           // outside of a rule
        Sums outside;                  // of a rule: all other rows
        Candidate best;
        double gain = -1.0;
    };

    int64_t* cells(std::size_t slot) { return histograms_.data() + slot * layout_.size(); }
    double side_worth(Sums sums) const;
    /// What a side is worth at a value other than its best one.
    double worth_at(Sums sums, double value) const;
    bool splittable(const Leaf& leaf) const {
        return !leaf.closed && (options_.max_depth == 0 || leaf.depth < options_.max_depth);
    }
    void close_outside(const Leaf& parent, Leaf& left, Leaf& right) const;
    ScanLimits limits_of(const Leaf& leaf) const;
    bool allowed(const Leaf& leaf, std::size_t column) const;
    void begin(const SearchRows& rows);
    int64_t total_of(const SearchRows& rows);
    void sum_root(const SearchRows& rows);
    void split(const SearchRows& rows, std::size_t parent, Tree& tree);
    Leaf child_of(const Leaf& parent, Sums sums, bool left) const;
    RowList list_of(const SearchRows& rows, const Split& split, uint8_t made, uint8_t wanted);
    /// Sums `list` into the histogram of leaf `a`; where `b` is given, subtracts that from it; then finds both's
    /// splits.
    void search(const SearchRows& rows, const RowList& list, Leaf& a, Leaf* b);
    void choose(Leaf& leaf, const std::vector<Candidate>& found) const;
    void use(const std::vector<uint8_t>& given);

    std::vector<Column> columns_;
    TreeOptions options_;
    CellLayout layout_;
    bool monotone_ = false;
    std::size_t given_ = 0;
    std::vector<uint8_t> used_, given_used_;
    std::vector<Leaf> leaves_;
    LargeVector<int64_t> histograms_;
    std::vector<uint8_t> leaf_;
    std::vector<uint32_t> list_;
    std::vector<int64_t> asked_;
    std::vector<Candidate> found_[2];
    double l2_ = 0.0, gain_unit_ = 1.0;
    int32_t least_curvature_ = 1;
    double gradient_grid_ = 1.0, curvature_grid_ = 1.0;
};

}  // namespace permissible::boosted
