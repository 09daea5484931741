// The greedy search. Only the smaller side of a literal is summed; the other is the difference.
#include "rules/search/grow.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "histogram/packed_classes.hpp"

namespace permissible::rules {

namespace {

Candidate negated(Candidate literal, bool has_missing) {
    constexpr Test opposite[] = {Test::above, Test::at_most, Test::present, Test::missing, Test::not_in, Test::in};
    literal.test = opposite[static_cast<int>(literal.test)];
    literal.missing = has_missing && !literal.missing;
    for (auto& member : literal.members) member = !member;
    literal.members[255] = literal.missing;
    return literal;
}

/// The literals of one ordered column as at most one lower and one upper bound.
void merge(std::vector<Candidate> own, std::vector<Candidate>& out) {
    const auto all_missing = std::all_of(own.begin(), own.end(), [](const Candidate& c) { return c.missing; });
    const auto find = [&](Test test, bool highest) {
        const Candidate* found = nullptr;
        for (const Candidate& c : own) {
            const bool better = found == nullptr || (highest ? c.code > found->code : c.code < found->code);
            if (c.test == test && better) found = &c;
        }
        return found;
    };
    if (const Candidate* absent = find(Test::missing, true); all_missing && absent != nullptr) {
        out.push_back(*absent);
        return;
    }
    const Candidate *lower = find(Test::above, true), *upper = find(Test::at_most, false);
    if (lower == nullptr && upper == nullptr) out.push_back(own.front());
    for (const Candidate* bound : {lower, upper}) {
        if (bound == nullptr) continue;
        out.push_back(*bound);
        out.back().missing = all_missing;
        out.back().members[255] = all_missing;
    }
}

/// The same rule with at most one lower and one upper bound per ordered column, in the order of first mention.
std::vector<Candidate> simplified(const std::vector<Candidate>& literals) {
    std::vector<Candidate> out;
    std::vector<int> seen;
    for (const Candidate& literal : literals) {
        if (std::find(seen.begin(), seen.end(), literal.column) != seen.end()) continue;
        seen.push_back(literal.column);
        std::vector<Candidate> own;
        std::copy_if(literals.begin(), literals.end(), std::back_inserter(own),
                     [&](const Candidate& c) { return c.column == literal.column; });
        if (own.size() == 1) {
            out.push_back(own.front());
        } else {
            merge(std::move(own), out);
        }
    }
    return out;
}

class RuleSearch {
  public:
    RuleSearch(Rows& rows, const std::vector<ColumnLayout>& layouts, const GrowOptions& options,
               const HistogramRequest& request, double total_curvature, SearchSums& buffers)
        : rows_(rows),
          layouts_(layouts),
          options_(options),
          buffers_(buffers),
          table_(rows.table(request)),
          n_sums_(table_.n_sums()),
          width_((rows.joint() ? rows.joint()->codes().columns : layouts.size()) * 256 * n_sums_),
          spread_(rows.joint() ? layouts.size() * 256 * n_sums_ : 0) {
        grow_to(all_, width_);
        table_.sum(nullptr, all_.data());
        const int64_t* sums = all_.data();
        const int64_t first = std::accumulate(sums, sums + 256, int64_t{0});
        const bool two = options.two_values, shared = two && n_sums_ == 1;
        criterion_ = {two, options.l2, 1.0 / request.weight_grid, two ? 1.0 / request.curvature_grid : total_curvature};
        criterion_.total_weight = shared ? high_half(first) : first;
        criterion_.total_curvature = shared ? low_half(first)
                                     : two  ? std::accumulate(sums + 256, sums + 512, int64_t{0})
                                            : 1;
        criterion_.noise = options.noise, criterion_.seed = request.seed;
    }

    GrownRule best() {
        const std::vector<Candidate> firsts =
            best_literals(layouts_, by_column(all_), n_sums_, criterion_, false, {}, options_.beam);
        for (std::size_t i = 0; i < firsts.size(); ++i) {
            if (i > 0 && same_sums(firsts[i - 1], firsts[i])) continue;  // a copy would start the same rule
            keep({firsts[i]});
            if (options_.max_literals > 1) complete(firsts[i]);
        }
        return result();
    }

  private:
    /// The sums of each column; those of joint codes are taken apart.
    const int64_t* by_column(const Sums& sums) {
        if (rows_.joint() == nullptr) return sums.data();
        rows_.joint()->spread(sums.data(), n_sums_, spread_.data());
        return spread_.data();
    }

    /// Sums over the rows of a table on the side of a literal with fewer rows; returns whether that is inside of it.
    bool sum_smaller_side(RowTable& table, const Candidate& literal, Sums& sums) {
        grow_to(sums, width_);
        const bool inside = 2 * table.divide(rows_.searched(mask_of({literal})[0])) <= table.rows();
        table.sum(&inside, sums.data());
        return inside;
    }

    void complete(const Candidate& first) {
        const bool inside = sum_smaller_side(table_, first, buffers_.kept);
        grow_to(buffers_.left, width_);
        for (std::size_t i = 0; i < width_; ++i) buffers_.left[i] = all_[i] - buffers_.kept[i];
        if (!inside) buffers_.kept.swap(buffers_.left);
        extend(first, true, buffers_.kept);
        Candidate opposite = negated(first, layouts_[static_cast<std::size_t>(first.column)].has_missing);
        opposite.weight_in = criterion_.total_weight - first.weight_in;
        opposite.curvature_in = criterion_.total_curvature - first.curvature_in;
        extend(opposite, false, buffers_.left);
    }

    /// Extends a rule that starts with `first`, given the sums of its rows: those on one side of the first division.
    void extend(const Candidate& first, bool inside, Sums& sums) {
        std::vector<Candidate> literals{first};
        std::vector<int> used;
        use(first, used);
        Criterion here = criterion_;
        while (static_cast<int>(literals.size()) < options_.max_literals) {
            const Candidate& last = literals.back();
            const uint64_t key = layouts_[static_cast<std::size_t>(last.column)].key;
            if (here.noise > 0.0) here.seed = seed_after(here.seed, key, last.members.data());
            const auto found = best_literals(layouts_, by_column(sums), n_sums_, here, true, used, 1);
            if (found.empty() || !(found[0].decrease > literals.back().decrease * (1.0 + kImprovement))) break;
            const Candidate& best = found[0];
            if (static_cast<int>(literals.size()) + 1 < options_.max_literals) {
                descend(literals.size(), literals.size() > 1 || inside, best, sums);
            }
            literals.push_back(best);
            use(best, used);
        }
        if (literals.size() > 1) keep(literals);
    }

    /// Columns that no further literal may test; an ordered one may get its other bound.
    void use(const Candidate& literal, std::vector<int>& used) const {
        if (options_.intervals && !layouts_[static_cast<std::size_t>(literal.column)].categorical) return;
        used.push_back(literal.column);
    }

    /// The rows of the rule so far, which are on one side of the last division, and the sums of those that the next
    /// literal keeps.
    void descend(std::size_t n_literals, bool inside, const Candidate& next, Sums& sums) {
        RowTable& table = rows_.deeper(n_literals);
        table.fill(rows_.deeper(n_literals - 1), inside);
        if (sum_smaller_side(table, next, buffers_.deeper)) return sums.swap(buffers_.deeper);
        for (std::size_t i = 0; i < width_; ++i) sums[i] -= buffers_.deeper[i];
    }

    void keep(const std::vector<Candidate>& literals) {
        if (best_.empty() || literals.back().decrease > best_.back().decrease * (1.0 + kImprovement)) best_ = literals;
    }

    GrownRule result() const {
        GrownRule grown;
        if (best_.empty()) return grown;
        const Candidate& last = best_.back();
        grown.literals = options_.intervals ? simplified(best_) : best_;
        grown.decrease = last.decrease;
        grown.weight_in = static_cast<double>(last.weight_in) * criterion_.weight_unit;
        grown.weight_all = static_cast<double>(criterion_.total_weight) * criterion_.weight_unit;
        grown.curvature_in = static_cast<double>(last.curvature_in) * criterion_.curvature_unit;
        grown.curvature_all = static_cast<double>(criterion_.total_curvature) * criterion_.curvature_unit;
        return grown;
    }

    Rows& rows_;
    const std::vector<ColumnLayout>& layouts_;
    const GrowOptions& options_;
    SearchSums& buffers_;
    RowTable& table_;  // the rows that are searched
    std::size_t n_sums_, width_;
    Sums &all_ = buffers_.all, spread_;
    Criterion criterion_;
    std::vector<Candidate> best_;
};

}  // namespace

RuleMask mask_of(const std::vector<Candidate>& literals) {
    RuleMask rule;
    for (const Candidate& literal : literals)
        rule.push_back(LiteralMask::from_members(literal.column, literal.members.data()));
    return rule;
}

GrownRule grow_rule(Rows& rows, const std::vector<ColumnLayout>& layouts, const GrowOptions& options,
                    const HistogramRequest& request, double total_curvature, SearchSums& buffers) {
    return RuleSearch(rows, layouts, options, request, total_curvature, buffers).best();
}

}  // namespace permissible::rules
