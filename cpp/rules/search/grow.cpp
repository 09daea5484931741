// The greedy search. Only the smaller side of a literal is summed; the other is the difference.
#include "rules/search/grow.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace permissible::rules {

namespace {

using Sums = Pool::Sums;

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

class RuleSearch {
  public:
    RuleSearch(Rows& rows, const std::vector<ColumnLayout>& layouts, const GrowOptions& options,
               const HistogramRequest& request, double total_curvature, Pool& pool)
        : rows_(rows),
          layouts_(layouts),
          options_(options),
          pool_(pool),
          n_sums_(rows.two_sums() ? 2 : 1),
          width_((rows.joint() ? rows.joint()->codes().columns : layouts.size()) * 256 * n_sums_),
          table_(rows.table(request)),
          all_(pool_.take(width_)),
          spread_(rows.joint() ? layouts.size() * 256 * n_sums_ : 0) {
        std::fill(all_.begin(), all_.end(), 0);
        table_.sum(nullptr, all_.data());
        criterion_.two_values = options.two_values;
        criterion_.l2 = options.l2;
        criterion_.noise = options.noise;
        criterion_.seed = request.seed;
        criterion_.weight_unit = 1.0 / request.weight_grid;
        criterion_.total_weight = total(all_.data());
        if (options.two_values) {
            criterion_.curvature_unit = 1.0 / request.curvature_grid;
            criterion_.total_curvature = total(all_.data() + 256);
        } else {
            criterion_.curvature_unit = total_curvature;
            criterion_.total_curvature = 1;
        }
    }

    ~RuleSearch() { pool_.give(std::move(all_)); }

    GrownRule best() {
        std::vector<Candidate> firsts = best_literals(layouts_, by_column(all_), n_sums_, criterion_, false, {});
        std::stable_sort(firsts.begin(), firsts.end(),
                         [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
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

    /// The sums of each column; those of joint codes are taken apart.
    const int64_t* by_column(const Sums& sums) {
        if (rows_.joint() == nullptr) return sums.data();
        rows_.joint()->spread(sums.data(), n_sums_, spread_.data());
        return spread_.data();
    }

    /// Sums over the rows of a table inside of a literal, and over its others; only the side with fewer rows is
    /// visited.
    void split(RowTable& table, const Sums& sums, const Candidate& literal, Sums& kept, Sums& left) {
        const std::size_t inside = table.divide(rows_.searched(mask_of(literal)));
        const bool small = 2 * inside <= table.rows();
        Sums& visited = small ? kept : left;
        Sums& other = small ? left : kept;
        std::fill(visited.begin(), visited.end(), 0);
        table.sum(&small, visited.data());
        for (std::size_t i = 0; i < width_; ++i) other[i] = sums[i] - visited[i];
    }

    void complete(const Candidate& first) {
        Sums kept = pool_.take(width_), left = pool_.take(width_);
        split(table_, all_, first, kept, left);
        extend(first, true, kept);
        Candidate opposite = negated(first, layouts_[static_cast<std::size_t>(first.column)].has_missing);
        opposite.weight_in = criterion_.total_weight - first.weight_in;
        opposite.curvature_in = criterion_.total_curvature - first.curvature_in;
        extend(opposite, false, left);
        pool_.give(std::move(kept));
        pool_.give(std::move(left));
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
            const std::vector<Candidate> found = best_literals(layouts_, by_column(sums), n_sums_, here, true, used);
            const auto best = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
                return a.score < b.score;  // the first of ties: the lowest column
            });
            if (!(best->decrease > literals.back().decrease * (1.0 + kImprovement))) break;
            if (static_cast<int>(literals.size()) + 1 < options_.max_literals) {
                descend(literals.size(), literals.size() > 1 || inside, *best, sums);
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

    /// The rows of the rule so far, which are on one side of the last division, and the sums of those that the next
    /// literal keeps.
    void descend(std::size_t n_literals, bool inside, const Candidate& next, Sums& sums) {
        RowTable& table = rows_.deeper(n_literals);
        table.fill(rows_.deeper(n_literals - 1), inside);
        Sums kept = pool_.take(width_), left = pool_.take(width_);
        split(table, sums, next, kept, left);
        sums.swap(kept);
        pool_.give(std::move(kept));
        pool_.give(std::move(left));
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
    Pool& pool_;
    int n_sums_;
    std::size_t width_;
    RowTable& table_;  // the rows that are searched
    Sums all_, spread_;
    Criterion criterion_;
    std::vector<Candidate> best_;
};

}  // namespace

RuleMask GrownRule::mask() const {
    RuleMask rule;
    for (const Candidate& literal : literals) rule.push_back(mask_of(literal));
    return rule;
}

GrownRule grow_rule(Rows& rows, const std::vector<ColumnLayout>& layouts, const GrowOptions& options,
                    const HistogramRequest& request, double total_curvature, Pool& pool) {
    return RuleSearch(rows, layouts, options, request, total_curvature, pool).best();
}

}  // namespace permissible::rules
