#include "trees/cuts.hpp"

#include <bit>
#include <cstring>
#include <numeric>

namespace permissible::trees {

Cuts::Cuts(int n_classes, std::size_t room)
    : capacity(room),
      classes(n_classes),
      left(room * n_classes),
      right(room * n_classes),
      left_value(room),
      right_value(room),
      left_samples(room),
      right_samples(room),
      code(room),
      missing_left(room),
      order(room) {}

void Cuts::evaluate(const Impurity& impurity) {
    impurities(impurity, left.data(), capacity, classes, count, left_value.data());
    impurities(impurity, right.data(), capacity, classes, count, right_value.data());
}

namespace {

/// Running channel sums of the rows that go left, and how one of their states becomes a cut.
template <typename Sum>
struct Sweep {
    const Run<Sum>& run;
    const std::int64_t* totals;
    Cuts& cuts;
    int channels;
    std::vector<std::int64_t> sums;

    Sweep(const Run<Sum>& r, const std::int64_t* t, Cuts& c)
        : run(r), totals(t), cuts(c), channels(r.classes + (r.counted ? 1 : 0)), sums(channels, 0) {}

    void restart() { std::fill(sums.begin(), sums.end(), 0); }
    void add(int slot) {
        for (int c = 0; c < channels; ++c) sums[c] += run.channel(c)[slot];
    }
    bool occupied(int slot) const {
        for (int c = 0; c < run.classes; ++c)
            if (run.channel(c)[slot] != 0) return true;
        return false;
    }
    void record(int code, bool missing_left, int order) {
        const std::size_t i = cuts.count++;
        double left_total = 0, right_total = 0;
        for (int c = 0; c < run.classes; ++c) {
            const double l = static_cast<double>(sums[c]) * run.unit;
            const double r = static_cast<double>(totals[c] - sums[c]) * run.unit;
            cuts.left[c * cuts.capacity + i] = l;
            cuts.right[c * cuts.capacity + i] = r;
            left_total += l;
            right_total += r;
        }
        cuts.left_samples[i] = run.counted ? static_cast<double>(sums[run.classes]) : left_total;
        cuts.right_samples[i] =
            run.counted ? static_cast<double>(totals[run.classes] - sums[run.classes]) : right_total;
        cuts.code[i] = code;
        cuts.missing_left[i] = missing_left;
        cuts.order[i] = static_cast<std::int16_t>(order);
    }
};

template <typename Sum>
void list_numeric(const Run<Sum>& run, const std::int64_t* totals, Cuts& cuts) {
    Sweep<Sum> sweep(run, totals, cuts);
    const bool missing = sweep.occupied(run.codes);
    for (int pass = 0; pass < (missing ? 2 : 1); ++pass) {
        sweep.restart();
        if (pass == 1) sweep.add(run.codes);
        int previous = -1;
        for (int k = 0; k < run.codes; ++k) {
            if (!sweep.occupied(k)) continue;
            // Codes between two occupied ones give the same parts; the threshold goes to the middle of the gap.
            if (previous >= 0) sweep.record((previous + k - 1) / 2, pass == 1, kNumeric);
            sweep.add(k);
            previous = k;
        }
        if (missing && pass == 0 && previous >= 0) sweep.record(run.codes - 1, false, kPresence);
    }
}

/// Which codes are occupied, one byte each; slots of the run beyond `codes` are left 0.
template <typename Sum>
PERMISSIBLE_CLONES void mark_occupied(const Sum* negative, const Sum* positive, int codes, std::uint8_t* occupied) {
    for (int k = 0; k < codes; ++k) occupied[k] = (negative[k] | positive[k]) != 0;
}

/// The same for two classes without row counts: it steps from one occupied code to the next, since in a small node few
/// are.
template <typename Sum>
void list_binary(const Run<Sum>& run, const std::int64_t* totals, Cuts& cuts) {
    const Sum *negative = run.channel(0), *positive = run.channel(1);
    const bool missing = (negative[run.codes] | positive[run.codes]) != 0;
    std::uint8_t occupied[256] = {};
    mark_occupied(negative, positive, run.codes, occupied);
    double *left_negative = cuts.left.data(), *left_positive = left_negative + cuts.capacity;
    double *right_negative = cuts.right.data(), *right_positive = right_negative + cuts.capacity;
    const std::size_t first = cuts.count;
    std::size_t i = first;
    for (int pass = 0; pass < (missing ? 2 : 1); ++pass) {
        std::int64_t n = pass ? negative[run.codes] : 0, p = pass ? positive[run.codes] : 0;
        int previous = -1;
        const auto write = [&](int code, int order) {
            left_negative[i] = static_cast<double>(n);
            left_positive[i] = static_cast<double>(p);
            right_negative[i] = static_cast<double>(totals[0] - n);
            right_positive[i] = static_cast<double>(totals[1] - p);
            cuts.code[i] = code;
            cuts.missing_left[i] = static_cast<std::uint8_t>(pass);
            cuts.order[i] = static_cast<std::int16_t>(order);
        };
        for (int base = 0; base < run.codes; base += 8) {
            std::uint64_t word;
            std::memcpy(&word, occupied + base, 8);
            for (; word != 0; word &= word - 1) {
                const int k = base + (std::countr_zero(word) >> 3);
                write((previous + k - 1) / 2, kNumeric);
                i += previous >= 0;
                n += negative[k];
                p += positive[k];
                previous = k;
            }
        }
        if (missing && pass == 0 && previous >= 0) {
            write(run.codes - 1, kPresence);
            ++i;
        }
    }
    cuts.count = i;
    for (i = first; i < cuts.count; ++i) {
        left_negative[i] *= run.unit;
        left_positive[i] *= run.unit;
        right_negative[i] *= run.unit;
        right_positive[i] *= run.unit;
        cuts.left_samples[i] = left_negative[i] + left_positive[i];
        cuts.right_samples[i] = right_negative[i] + right_positive[i];
    }
}

template <typename Sum>
void list_categorical(const Run<Sum>& run, const std::int64_t* totals, Cuts& cuts) {
    Sweep<Sum> sweep(run, totals, cuts);
    std::vector<int> classes(run.classes);
    std::iota(classes.begin(), classes.end(), 0);
    if (run.classes == 2) {
        classes = {1};
    } else {
        // The most frequent classes at this node, in the order of their index among equals.
        std::stable_sort(classes.begin(), classes.end(), [&](int a, int b) { return totals[a] > totals[b]; });
        classes.resize(std::min(run.classes, kOrders));
    }
    for (const int c : classes) {
        const std::vector<int> order = category_order(run, c);
        sweep.restart();
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            sweep.add(order[i]);
            sweep.record(static_cast<int>(i) + 1, false, c);
        }
    }
}

}  // namespace

template <typename Sum>
void list_cuts(const Run<Sum>& run, const std::int64_t* totals, Cuts& cuts) {
    if (run.categorical)
        list_categorical(run, totals, cuts);
    else if (run.classes == 2 && !run.counted)
        list_binary(run, totals, cuts);
    else
        list_numeric(run, totals, cuts);
}

template <typename Sum>
std::vector<int> category_order(const Run<Sum>& run, int order) {
    std::vector<double> probability(run.codes + 1, 0.0);
    std::vector<int> present;
    for (int k = 0; k <= run.codes; ++k) {
        double total = 0;
        for (int c = 0; c < run.classes; ++c) total += static_cast<double>(run.channel(c)[k]);
        if (total <= 0) continue;
        probability[k] = static_cast<double>(run.channel(order)[k]) / total;
        present.push_back(k);
    }
    std::stable_sort(present.begin(), present.end(), [&](int a, int b) { return probability[a] < probability[b]; });
    return present;
}

BestCut choose_cut(const Cuts& cuts, std::size_t begin, std::size_t end, const NodeView& node, const Limits& limits,
                   int monotone) {
    BestCut best;
    const double noise = kGainNoise * node.weight;
    const bool bounded = monotone != 0 || node.low > 0 || node.high < 1;
    double threshold = std::max(noise, limits.min_gain);
    for (std::size_t i = begin; i < end; ++i) {
        const double gain = node.value - (cuts.left_value[i] + cuts.right_value[i]);
        if (!(gain > threshold)) continue;
        if (limits.min_samples > 1 &&
            (cuts.left_samples[i] < limits.min_samples || cuts.right_samples[i] < limits.min_samples))
            continue;
        if (limits.min_weight > 0 || bounded) {
            double left_total = 0, right_total = 0;
            for (int c = 0; c < cuts.classes; ++c) {
                left_total += cuts.left[c * cuts.capacity + i];
                right_total += cuts.right[c * cuts.capacity + i];
            }
            if (left_total < limits.min_weight || right_total < limits.min_weight) continue;
            if (bounded) {
                const double l = cuts.left[cuts.capacity + i] / left_total;
                const double r = cuts.right[cuts.capacity + i] / right_total;
                const int direction = cuts.order[i] == kPresence ? 0 : monotone;
                if (std::min(l, r) < node.low || std::max(l, r) > node.high || (r - l) * direction < 0) continue;
            }
        }
        best.gain = gain;
        best.code = cuts.code[i];
        best.missing_left = cuts.missing_left[i];
        best.order = cuts.order[i];
        threshold = gain + kTie * gain + noise;  // a later cut must be better by more than rounding
    }
    return best;
}

template void list_cuts<std::int32_t>(const Run<std::int32_t>&, const std::int64_t*, Cuts&);
template void list_cuts<std::int64_t>(const Run<std::int64_t>&, const std::int64_t*, Cuts&);
template std::vector<int> category_order<std::int32_t>(const Run<std::int32_t>&, int);
template std::vector<int> category_order<std::int64_t>(const Run<std::int64_t>&, int);

}  // namespace permissible::trees
