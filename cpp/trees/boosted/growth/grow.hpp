// Growth of one tree on given gradients and curvatures, best leaf first. The law: a split is decided by integer sums
// alone, so threads, the order of rows and their parts do not show. The larger child's histogram is the parent's minus
// the smaller child's. Where several threads grow a tree, the second best leaf is divided together with the best: it is
// nearly always the next or one of the next, and what was found of its halves stays true until then.
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
        uint8_t mark = 0;  // of its rows: numbered as leaves are divided, which may be ahead of their turn
        int halves = -1;   // where they are, once it is divided
    };
    /// A divided leaf: the rows of one half are summed, the sums of the other are the rest. The root is a half alone.
    struct Halves {
        Leaf left, right;
        Split split;  // with the mark of the divided leaf as its parent
        bool left_summed = true, alone = false;
        const Leaf& summed() const { return left_summed ? left : right; }
        const Leaf& rest() const { return left_summed ? right : left; }
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
    /// Makes the halves of a leaf, to be searched with `all` if either may be split.
    void halve(std::size_t at, std::vector<Halves*>& all);
    /// The leaf of largest gain, of those that are not divided if asked so; -1 where none gains.
    int best_leaf(bool undivided) const;
    int threads_for(const SearchRows& rows) const;
    /// Divides the rows, sums the halves and finds their best splits.
    void search(const SearchRows& rows, const std::vector<Halves*>& all);
    void divide_piece(const SearchRows& rows, const std::vector<Halves*>& all, std::size_t piece, std::size_t pieces);
    void search_block(const SearchRows& rows, const Halves& halves, std::size_t k, std::size_t block);
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
    std::vector<Halves> halves_;
    int marks_ = 1;
    std::vector<uint32_t> numbers_[2];  // of the rows that are summed, and where those of each thread are
    std::vector<RowList> lists_[2];
    std::vector<int64_t> asked_;
    std::vector<Candidate> found_[4];  // of each column, of two leaves' left and right halves
    double l2_ = 0.0, gain_unit_ = 1.0;
    int32_t least_curvature_ = 1;
    double gradient_grid_ = 1.0, curvature_grid_ = 1.0;
};

}  // namespace permissible::boosted
