// The greedy search. Only the smaller side of a literal is summed; the other is the difference.
#include "rules/grow.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace permissible::rules {

namespace {

using Sums = std::vector<int64_t>;

LiteralMask mask_of(const Candidate& literal) {
    return LiteralMask::from_members(literal.column, literal.members.data());
}

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

/// Buffers of histograms, kept between rounds: clearing and allocating them would cost as much as a small histogram.
class Pool {
  public:
    Sums take(std::size_t width) {
        if (kept_.empty()) return Sums(width);
        Sums sums = std::move(kept_.back());
        kept_.pop_back();
        sums.resize(width);
        return sums;
    }
    void give(Sums&& sums) {
        if (kept_.size() < 8) kept_.push_back(std::move(sums));
    }

  private:
    std::vector<Sums> kept_;
};

Pool& pool() {
    thread_local Pool shared;
    return shared;
}

class RuleSearch {
  public:
    RuleSearch(Rows& rows, const std::vector<ColumnLayout>& layouts, const GrowOptions& options,
               const HistogramGrids& grids, double total_curvature, uint64_t seed)
        : rows_(rows),
          layouts_(layouts),
          options_(options),
          grids_(grids),
          seed_(seed),
          sample_(rows.sample(options.share, seed)),
          n_rows_(rows.rows_in(sample_)),
          width_(layouts.size() * 256 * (rows.two_sums() ? 2 : 1)),
          all_(pool().take(width_)) {
        summed({}, all_);
        criterion_.two_values = options.two_values;
        criterion_.l2 = options.l2 * options.share;
        criterion_.share = options.share;
        criterion_.weight_unit = 1.0 / grids.weight;
        criterion_.total_weight = total(all_.data());
        if (options.two_values) {
            criterion_.curvature_unit = 1.0 / grids.curvature;
            criterion_.total_curvature = total(all_.data() + 256);
        } else {
            criterion_.curvature_unit = total_curvature * options.share;
            criterion_.total_curvature = 1;
        }
    }

    ~RuleSearch() { pool().give(std::move(all_)); }

    GrownRule best() {
        std::vector<Candidate> firsts = best_literals(layouts_, all_.data(), criterion_, false, {});
        std::stable_sort(firsts.begin(), firsts.end(),
                         [](const Candidate& a, const Candidate& b) { return a.decrease > b.decrease; });
        int started = 0;
        for (std::size_t i = 0; i < firsts.size() && started < options_.beam && firsts[i].decrease >= 0.0; ++i) {
            if (i > 0 && same_sums(firsts[i - 1], firsts[i]))
                continue;  // a copy of the column would start the same rule
            ++started;
            keep({firsts[i]});
            if (options_.max_literals > 1) complete(firsts[i]);
        }
        return result();
    }

  private:
    static bool same_sums(const Candidate& a, const Candidate& b) {
        return a.weight_in == b.weight_in && a.curvature_in == b.curvature_in;
    }

    static int64_t total(const int64_t* codes) {
        int64_t sum = 0;
        for (int code = 0; code < 256; ++code) sum += codes[code];
        return sum;
    }

    void summed(const RuleMask& prefix, Sums& sums, bool covered = true) {
        std::fill(sums.begin(), sums.end(), 0);
        rows_.histogram_of(prefix, grids_.weight, grids_.curvature, options_.share, seed_, sums.data(), covered);
    }

    /// Sums of parent and literal, and of parent and not literal; only the side with fewer rows is visited. Returns how
    /// many rows the first side has.
    std::size_t split(const RuleMask& parent, std::size_t parent_rows, const Sums& parent_sums,
                      const Candidate& literal, Sums& kept, Sums& left) {
        RuleMask rule = parent;
        rule.push_back(mask_of(literal));
        rows_.mask_of(rule, sample_);
        const std::size_t inside = rows_.covered();
        const bool small = 2 * inside <= parent_rows;
        Sums& visited = small ? kept : left;
        Sums& other = small ? left : kept;
        if (!small && !parent.empty()) rule.back() = mask_of(negated(literal, true));
        summed(rule, visited, small || !parent.empty());  // without a parent the other side is what the mask leaves
        for (std::size_t i = 0; i < width_; ++i) other[i] = parent_sums[i] - visited[i];
        return inside;
    }

    void complete(const Candidate& first) {
        Sums kept = pool().take(width_), left = pool().take(width_);
        const std::size_t inside = split({}, n_rows_, all_, first, kept, left);
        extend(first, inside, kept);
        Candidate opposite = negated(first, layouts_[static_cast<std::size_t>(first.column)].has_missing);
        opposite.weight_in = criterion_.total_weight - first.weight_in;
        opposite.curvature_in = criterion_.total_curvature - first.curvature_in;
        extend(opposite, n_rows_ - inside, left);
        pool().give(std::move(kept));
        pool().give(std::move(left));
    }

    /// Extends a rule that starts with `first`, given its number of rows and their sums.
    void extend(const Candidate& first, std::size_t covered, Sums& sums) {
        std::vector<Candidate> literals{first};
        std::vector<int> used;
        use(first, used);
        while (static_cast<int>(literals.size()) < options_.max_literals) {
            const std::vector<Candidate> found = best_literals(layouts_, sums.data(), criterion_, true, used);
            const auto best = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
                return a.decrease < b.decrease;  // the first of ties: the lowest column
            });
            if (!(best->decrease > literals.back().decrease * (1.0 + kImprovement))) break;
            if (static_cast<int>(literals.size()) + 1 < options_.max_literals) {
                covered = descend(literals, covered, *best, sums);
            }
            literals.push_back(*best);
            use(*best, used);
        }
        if (literals.size() > 1) keep(literals);
    }

    /// Columns that no further literal may test; an ordered one may get its other bound.
    void use(const Candidate& literal, std::vector<int>& used) const {
        if (options_.intervals && !layouts_[static_cast<std::size_t>(literal.column)].categorical) return;
        used.push_back(literal.column);
    }

    std::size_t descend(const std::vector<Candidate>& literals, std::size_t covered, const Candidate& next,
                        Sums& sums) {
        RuleMask parent;
        for (const Candidate& literal : literals) parent.push_back(mask_of(literal));
        Sums kept = pool().take(width_), left = pool().take(width_);
        const std::size_t inside = split(parent, covered, sums, next, kept, left);
        sums.swap(kept);
        pool().give(std::move(kept));
        pool().give(std::move(left));
        return inside;
    }

    void keep(const std::vector<Candidate>& literals) {
        const bool better = best_.empty() || literals.back().decrease > best_.back().decrease * (1.0 + kImprovement);
        if (better) best_ = literals;
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
    const HistogramGrids& grids_;
    uint64_t seed_;
    Sample sample_;       // the rows that are searched,
    std::size_t n_rows_;  // and how many they are
    std::size_t width_;
    Sums all_;
    Criterion criterion_;
    std::vector<Candidate> best_;
};

}  // namespace

RuleMask GrownRule::mask() const {
    RuleMask rule;
    for (const Candidate& literal : literals) rule.push_back(mask_of(literal));
    return rule;
}

Sums spare_sums(std::size_t width) { return pool().take(width); }
void keep_sums(Sums&& sums) { pool().give(std::move(sums)); }

GrownRule grow_rule(Rows& rows, const std::vector<ColumnLayout>& layouts, const GrowOptions& options,
                    const HistogramGrids& grids, double total_curvature, uint64_t seed) {
    return RuleSearch(rows, layouts, options, grids, total_curvature, seed).best();
}

}  // namespace permissible::rules
