// Boosting of trees from start to end: one round of ULS whose block of features is the leaves of a tree grown on the
// current weights. The leaves are disjoint, so that the leveraging coefficients (35) are one number each. The search
// for the tree may look at a sample of the rows; the coefficients are those of all rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trees/boosted/codes.hpp"
#include "trees/boosted/growth/grow.hpp"
#include "trees/boosted/part.hpp"
#include "trees/boosted/scores/step.hpp"

namespace permissible::boosted {

struct FitOptions {
    int n_trees = 100;
    StepOptions step;
    TreeOptions tree;
    double column_fraction = 1.0;   // columns that one tree may use
    std::vector<uint64_t> numbers;  // of the columns, by which they are drawn; 0: a constant or a copy, never drawn
    double search_rows = 1e18;      // rows that a search looks at, copies counted; all where that is nearly as many
    uint64_t seed = 0;
    int patience = 0;          // rounds without a smaller held-out loss after which to stop; 0: never
    double rival = -1.0;       // the held-out loss of a rival: stop once it is out of reach; below 0: none
    int rival_trees = 0;       // the trees that the rival took for it
    bool fit_constant = true;  // begin from the best constant
    bool track_loss = false;   // the training loss of every round
    bool bundle = true;        // sum columns that exclude each other as one (bundles.hpp): the same model sooner
    int threads = 1;
};

/// What is known of all rows before the first round.
struct RowFacts {
    double total = 0.0;                // rows, copies counted
    std::vector<double> class_weight;  // of each class
    bool held_out = false;             // whether some are held out
    bool hashed = false;               // whether they can be sampled
};
RowFacts facts_of(const FitRows& rows, const FitRows* held_out);

enum class Stop : int { rounds = 0, no_gain = 1, held_out = 2, callback = 3 };

struct FitResult {
    std::size_t outputs = 1;
    std::vector<double> constant;  // of each output
    std::vector<Split> splits;
    std::vector<int32_t> first_split{0};  // of each tree, and the end
    std::vector<double> values;           // of each leaf and output, shrinkage included; tree by tree
    std::vector<double> loss, held_out;   // sums after each round, and before the first
    std::vector<int64_t> searched;        // rows, of each round
    double largest_gain = 0.0;            // of one more split, on the rows of the next search
    int best_round = 0;                   // trees with the smallest held-out loss; all without held-out rows
    Stop stop = Stop::rounds;
};

/// The splits of the result are those of the columns that were given, also where `columns` are bundles of them.
/// `scores` says what the loss is; its rows are not looked at. `watch(round)` is called before each round; false stops
/// the fit.
FitResult fit(TrainingRows& rows, const RowFacts& facts, const Scores& scores, const std::vector<Column>& columns,
              const FitOptions& options, const std::function<bool(int)>& watch);

/// Trees as flat arrays; `first_split` has an entry per tree and the end.
struct Forest {
    const Split* splits = nullptr;
    const int32_t* first_split = nullptr;
    const double* values = nullptr;  // (leaves of all trees, outputs)
    std::size_t outputs = 1;
};

/// Adds the trees [first, last) to scores (rows, outputs), tree by tree for each block of rows.
void add_trees(const Forest& forest, std::size_t first, std::size_t last, const Codes& codes, int threads,
               double* scores);

}  // namespace permissible::boosted
