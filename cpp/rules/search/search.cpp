// Scanning a histogram: cuts of ordered columns, equalities and sets of categorical ones, each with missing values on
// either side.
#include "rules/search/search.hpp"

#include <algorithm>
#include <numeric>

#include "common/codes.hpp"
#include "common/lanes.hpp"
#include "common/parallel.hpp"
#include "histogram/packed_classes.hpp"

namespace permissible::rules {

namespace {

struct Sums {
    int64_t weight = 0;
    int64_t curvature = 0;
};

/// Empty sides are not rules: with both sums known, a side without curvature and weight has no row.
bool empty_side(const Criterion& criterion, Sums in) {
    if (!criterion.two_values) return false;
    const bool inside = in.weight != 0 || in.curvature != 0;
    const bool outside = criterion.total_weight != in.weight || criterion.total_curvature != in.curvature;
    return !(inside && outside);
}

/// Sums inside of every cut of a column, and what each would gain; one variant of all cuts after the other.
struct CutTable {
    double weight[4 * 256];  // integers below 2^53, so exact
    double curvature[4 * 256];
    double decrease[4 * 256];
    int code[256];

    int64_t weight_of(int cut) const { return static_cast<int64_t>(weight[cut]); }
    int64_t curvature_of(int cut) const { return static_cast<int64_t>(curvature[cut]); }

    /// The variant whose sums are `constant` + `sign` times those below the cut.
    void add_variant(int variant, int listed, double sign, Sums constant) {
        const auto w = static_cast<double>(constant.weight), c = static_cast<double>(constant.curvature);
        double *to_weight = weight + variant * listed, *to_curvature = curvature + variant * listed;
        for (int i = 0; i < listed; ++i) {
            to_weight[i] = w + sign * weight[i];
            to_curvature[i] = c + sign * curvature[i];
        }
    }
};

/// The largest of some numbers, at least -1; those that are not numbers do not count.
PERMISSIBLE_CLONES
double largest(const double* values, int n) {
    V4 most = all<V4>(-1.0);
    int i = 0;
    for (; i + 4 <= n; i += 4) most = larger(most, Lanes<V4>::load(values + i));
    for (; i < n; ++i) most[0] = larger(most[0], values[i]);
    return greatest(most);
}

/// Criterion::decrease over a table, the same operations in the same order.
PERMISSIBLE_CLONES
void cut_decreases(CutTable& cuts, int n, const Criterion& criterion) {
    const auto all_weight = static_cast<double>(criterion.total_weight);
    const auto all_curvature = static_cast<double>(criterion.total_curvature);
    const double weight_unit = criterion.weight_unit, curvature_unit = criterion.curvature_unit, l2 = criterion.l2;
    if (!criterion.two_values) {
        const double divisor = all_curvature * curvature_unit + 2.0 * l2;
        for (int i = 0; i < n; ++i) {
            const double edge = (2.0 * cuts.weight[i] - all_weight) * weight_unit;
            cuts.decrease[i] = 0.5 * second_order(edge, divisor);
        }
        return;
    }
    for (int i = 0; i < n; ++i) {
        const double w_in = cuts.weight[i] * weight_unit;
        const double w_out = (all_weight - cuts.weight[i]) * weight_unit;
        const double k_in = cuts.curvature[i] * curvature_unit + l2;
        const double k_out = (all_curvature - cuts.curvature[i]) * curvature_unit + l2;
        cuts.decrease[i] = 0.5 * (second_order(w_in, k_in) + second_order(w_out, k_out));
    }
}

class ColumnScan {
  public:
    /// What is compared by at most `floor` is not looked for.
    ColumnScan(const ColumnLayout& layout, int column, const int64_t* sums, std::size_t n_sums,
               const Criterion& criterion, bool oriented, double floor)
        : layout_(layout),
          weight_(sums),
          curvature_(criterion.two_values && n_sums == 2 ? sums + 256 : nullptr),
          shared_(criterion.two_values && n_sums == 1),
          criterion_(criterion),
          draws_(column_draws(criterion.seed, layout.key)),
          oriented_(oriented) {
        best_.column = column;
        best_.score = floor;
    }

    Candidate run() {
        if (layout_.categorical) {
            for (int code = 0; code < layout_.n_bins; ++code) add(whole_, at(code));
            if (layout_.n_bins <= kOtherCode) add(whole_, at(kOtherCode));
            add(whole_, at(kMissingCode));
            scan_categories();
        } else {
            scan_cuts();
        }
        if (layout_.has_missing) {
            offer(at(kMissingCode), Test::missing, 0, true, kMissingCode);
            if (oriented_) offer(minus(whole_, at(kMissingCode)), Test::present, 0, false, kMissingCode);
        }
        if (best_.decrease >= 0.0) best_.fill_members();
        return best_;
    }

  private:
    Sums at(int code) const {
        if (shared_) return {high_half(weight_[code]), low_half(weight_[code])};
        return {weight_[code], curvature_ != nullptr ? curvature_[code] : 0};
    }
    static void add(Sums& to, Sums term) {
        to.weight += term.weight;
        to.curvature += term.curvature;
    }
    static Sums minus(Sums from, Sums term) { return {from.weight - term.weight, from.curvature - term.curvature}; }

    bool offer(Sums in, Test test, int code, bool missing, uint64_t drawn, double cost = 0.0) {
        const double decrease = criterion_.decrease(in.weight, in.curvature) - cost;
        const double noise = criterion_.noise, score = noise > 0.0 ? varied(decrease, noise, draws_, drawn) : decrease;
        if (!(score > best_.score) || empty_side(criterion_, in)) return false;
        best_.score = score;
        best_.decrease = decrease;
        best_.test = test;
        best_.code = code;
        best_.missing = missing;
        best_.weight_in = in.weight;
        best_.curvature_in = in.curvature;
        return true;
    }

    /// All cuts of an ordered column at once: sums first, then decreases in one vector loop, then the first best one.
    /// No draw brings a cut further than the largest one: most columns end before there are any.
    void scan_cuts() {
        CutTable cuts;
        const int listed = list_below(cuts);
        const int absent_variant = oriented_ ? 2 : 1;
        const int variants = absent_variant * (layout_.has_missing ? 2 : 1);
        const Sums absent = at(kMissingCode);
        if (oriented_) cuts.add_variant(1, listed, -1.0, minus(whole_, absent));
        if (layout_.has_missing) cuts.add_variant(absent_variant, listed, 1.0, absent);
        if (layout_.has_missing && oriented_) cuts.add_variant(3, listed, -1.0, whole_);
        cut_decreases(cuts, variants * listed, criterion_);
        const double most = largest(cuts.decrease, variants * listed), noise = criterion_.noise,
                     drawn = std::sqrt(12.0);
        if (!((noise > 0.0 ? std::sqrt(2.0 * most / noise) + drawn * (1.0 + 1e-9) : most) > best_.score)) return;
        if (noise > 0.0) draw_cuts(cuts.decrease, cuts.code, listed, variants, noise, draws_);
        if (!(largest(cuts.decrease, variants * listed) > best_.score)) return;
        int found = -1;
        double best = best_.score;
        for (int cut = 0; cut < listed; ++cut) {
            for (int i = cut; i < variants * listed; i += listed) {
                if (!(cuts.decrease[i] > best)) continue;
                if (empty_side(criterion_, {cuts.weight_of(i), cuts.curvature_of(i)})) continue;
                best = cuts.decrease[i];
                found = i;
            }
        }
        if (found < 0) return;
        const int variant = found / listed;
        offer({cuts.weight_of(found), cuts.curvature_of(found)},
              oriented_ && variant % 2 == 1 ? Test::above : Test::at_most, cuts.code[found % listed],
              variant >= absent_variant, static_cast<uint64_t>(cuts.code[found % listed]));
    }

    /// Lists the sums below each cut. A bin without sums makes the same cut as the one before it, which wins the tie.
    int list_below(CutTable& cuts) {
        int listed = 0;
        Sums below;
        const bool may_start_empty = !criterion_.two_values || layout_.has_missing;
        for (int code = 0; code + 1 < layout_.n_bins; ++code) {
            const Sums here = at(code);
            add(below, here);
            cuts.weight[listed] = static_cast<double>(below.weight);
            cuts.curvature[listed] = static_cast<double>(below.curvature);
            cuts.code[listed] = code;
            listed += static_cast<int>((here.weight | here.curvature) != 0) |
                      (static_cast<int>(code == 0) & static_cast<int>(may_start_empty));
        }
        whole_ = below;
        if (layout_.n_bins > 0) add(whole_, at(layout_.n_bins - 1));
        add(whole_, at(kMissingCode));
        return listed;
    }

    /// Offers the rule that keeps the first `count` of the categories in `order` (or the others). It is written with as
    /// few names as possible: `in` the kept ones or `not in` the others, independent of the order of the list.
    void offer_set(Sums in, const std::vector<int>& order, std::size_t count, bool keep_first) {
        std::vector<int> kept(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
        std::vector<int> others(order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
        if (!keep_first) kept.swap(others);
        const auto named = [](const std::vector<int>& codes) {
            return codes.size() - static_cast<std::size_t>(std::count(codes.begin(), codes.end(), kMissingCode));
        };
        const bool missing = std::count(kept.begin(), kept.end(), kMissingCode) > 0;
        const bool listed = named(kept) <= named(others);
        const double cost = kCategoryCost * static_cast<double>(std::min(named(kept), named(others)) - 1);
        const uint64_t drawn = number_of_set(kept, others);
        if (!offer(in, listed ? Test::in : Test::not_in, 0, missing, drawn, std::max(cost, 0.0))) return;
        best_.members.fill(0);
        for (const int code : listed ? kept : others) best_.members[static_cast<std::size_t>(code)] = 1;
    }

    void scan_categories() {
        std::vector<int> order;
        for (int code = 0; code < 256; ++code) {
            const bool held =
                code < layout_.n_bins || code == kOtherCode || (code == kMissingCode && layout_.has_missing);
            const Sums sums = at(code);
            if (held && (sums.weight != 0 || sums.curvature != 0)) order.push_back(code);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (order[i] == kMissingCode) continue;
            std::vector<int> one = order;
            std::swap(one[0], one[i]);
            offer_set(at(order[i]), one, 1, true);
            if (oriented_) offer_set(minus(whole_, at(order[i])), one, 1, false);
        }
        if (!criterion_.two_values || order.size() < 4) return;
        // Sorted by their own Newton value, the best set is a prefix when each side has its own value (Fisher's
        // argument).
        const auto own_value = [this](int code) {
            const Sums sums = at(code);
            return static_cast<double>(sums.weight) * criterion_.weight_unit /
                   (static_cast<double>(sums.curvature) * criterion_.curvature_unit + criterion_.l2 + 1e-300);
        };
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return own_value(a) < own_value(b); });
        Sums prefix;
        for (std::size_t count = 1; count + 1 < order.size(); ++count) {
            add(prefix, at(order[count - 1]));
            if (count == 1) continue;
            const bool fewer = 2 * count <= order.size();
            if (oriented_ || fewer) offer_set(prefix, order, count, true);
            if (oriented_ || !fewer) offer_set(minus(whole_, prefix), order, count, false);
        }
    }

    const ColumnLayout& layout_;
    const int64_t* weight_;
    const int64_t* curvature_;
    bool shared_;  // both sums in one word
    const Criterion& criterion_;
    uint64_t draws_;
    bool oriented_;
    Sums whole_;
    Candidate best_;
};

}  // namespace

void Candidate::fill_members() {
    switch (test) {
        case Test::at_most:
            for (int c = 0; c < kMissingCode; ++c) members[static_cast<std::size_t>(c)] = c <= code;
            break;
        case Test::above:
            for (int c = 0; c < kMissingCode; ++c) members[static_cast<std::size_t>(c)] = c > code;
            break;
        case Test::missing: members.fill(0); break;
        case Test::present: members.fill(1); break;
        case Test::in: break;
        case Test::not_in:
            for (auto& member : members) member = !member;
            break;
    }
    members[kMissingCode] = missing;
}

std::vector<Candidate> best_literals(const std::vector<ColumnLayout>& layouts, const int64_t* sums, std::size_t n_sums,
                                     const Criterion& criterion, bool oriented, const std::vector<int>& used,
                                     int wanted) {
    std::vector<Candidate> found;
    double floor = Candidate{}.score;
    for (std::size_t column = 0; column < layouts.size(); ++column) {
        if (std::find(used.begin(), used.end(), static_cast<int>(column)) != used.end()) continue;
        const int64_t* own = sums + column * 256 * n_sums;
        const Candidate best =
            ColumnScan(layouts[column], static_cast<int>(column), own, n_sums, criterion, oriented, floor).run();
        if (best.decrease < 0.0) continue;
        const auto behind = [&](const Candidate& other) { return wanted > 0 && other.score < best.score; };
        found.insert(std::find_if(found.begin(), found.end(), behind), best);
        for (std::size_t i = 0, started = 0; wanted > 0 && i < found.size(); ++i) {
            started += i == 0 || !same_sums(found[i - 1], found[i]);
            if (started < static_cast<std::size_t>(wanted)) continue;
            floor = found[i].score;
            found.resize(i + 1);
        }
    }
    return found;
}

}  // namespace permissible::rules
