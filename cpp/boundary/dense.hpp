// Problem (18) of [K] on dense rows, to a certified duality gap. Levels: solve a strided sample, then five times as
// many rows, up to all. Bands: at each level only rows near a kink are solved for; the others keep their slope, and
// their sum is one vector. The resulting dual point is feasible for all rows, so one more pass (X.w) gives a gap that
// does not depend on the bands.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "boundary/newton.hpp"

namespace permissible::boundary {

struct Solution {
    std::vector<double> w, t;  // t: the dual point, in the order of the rows
    double b = 0, primal = 1e300, dual = -1e300;
    int steps = 0, passes = 0;
    bool converged = false;
};

/// Up to this many cells solving to full precision is cheap.
inline constexpr std::size_t kPolishCells = 200000;

template <typename T>
class DenseSolver {
  public:
    DenseSolver(const Problem& problem, const T* x, const int8_t* positive, const double* weight, std::size_t n,
                std::size_t d, int threads, Interrupt& interrupt)
        : problem_(problem),
          x_(x),
          positive_(positive),
          weight_(weight),
          n_(n),
          d_(d),
          threads_(threads),
          interrupt_(interrupt) {
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < problem.side[side].count; ++k)
                scale_ = std::max(scale_, std::abs(problem.side[side].hinge[k]));
    }

    /// `whole`: no levels, for rows that a sample does not represent.
    Solution solve(std::vector<double> w, double b, bool warm, bool whole, double tol, int max_steps) {
        const std::size_t smallest = std::max<std::size_t>(10000, 20 * d_);
        best_.w.assign(d_, 0.0), best_.t.assign(n_, 0.0);
        if (whole || n_ <= 2 * smallest || !by_bands(w, b, smallest, tol, max_steps))
            directly(w, b, warm, tol, max_steps);
        best_.converged = best_.primal - best_.dual <= tol * std::abs(best_.primal);
        return best_;
    }

  private:
    const Problem problem_;
    const T* x_;
    const int8_t* positive_;
    const double* weight_;
    std::size_t n_, d_;
    int threads_;
    Interrupt& interrupt_;
    double scale_ = 0;
    Solution best_;

    /// All rows at once: no levels, no bands. Used for small data, and as the fallback if most rows are at a kink.
    void directly(std::vector<double> w, double b, bool warm, double tol, int max_steps) {
        if (best_.primal < 1e299) w = best_.w, b = best_.b, warm = false;  // the bands failed: use a large width
        const Rows<T> rows = sample(n_, n_);
        const DualSums none(d_);
        Newton<T> newton(problem_, rows, none, threads_, interrupt_);
        newton.solve(w, b, scale_, 1e300, 0);
        offer_primal(newton.loss + penalty(w, b), w, b);
        std::vector<double> origin(d_, 0.0);
        double at_origin = 0;
        newton.solve(origin, at_origin, scale_, 1e300, 0);
        if (offer_primal(newton.loss, origin, at_origin)) w = origin, b = at_origin, warm = false;
        double e = (warm ? 0.05 : 2.0) * scale_, share = 0.7;
        for (int attempt = 0; attempt < 6 && best_.steps < max_steps && !gap_closed(tol); ++attempt, share *= 0.3) {
            attempt_once(newton, rows, w, b, e, share * tol * best_.primal, max_steps - best_.steps);
            e = attempt == 3 && warm ? 2.0 * scale_ : newton.smoothing;  // a bad start: restart with a large width
        }
        // A small problem is solved to full precision: stop when a step no longer improves it.
        if (n_ * d_ > kPolishCells) return;
        for (int attempt = 0; attempt < 12 && gap_closed(tol) && best_.steps < max_steps; ++attempt) {
            const double before = best_.primal - best_.dual;
            if (before <= 2e-16 * best_.primal) break;
            attempt_once(newton, rows, w, b, e, 0.05 * before, std::min(12, max_steps - best_.steps));
            if (best_.primal - best_.dual > 0.5 * before) break;
        }
    }

    void attempt_once(Newton<T>& newton, const Rows<T>& rows, std::vector<double>& w, double& b, double e,
                      double target, int budget) {
        newton.steps = 0;
        newton.solve(w, b, e, target, budget);
        best_.steps += newton.steps;
        offer_primal(newton.loss + penalty(w, b), w, b);
        offer_dual(newton.sums, [&](std::vector<double>& t) {
            for (std::size_t r = 0; r < rows.size(); ++r) t[static_cast<std::size_t>(rows.index[r])] = newton.t[r];
        });
    }

    bool gap_closed(double tol) const { return best_.primal - best_.dual <= tol * std::abs(best_.primal); }

    double penalty(const std::vector<double>& w, double b) const {
        double square = problem_.penalize_intercept && problem_.fit_intercept ? b * b : 0.0;
        return 0.5 * problem_.strength * (square + dot(w.data(), w.data(), d_));
    }

    bool offer_primal(double value, const std::vector<double>& w, double b) {
        if (!(value < best_.primal)) return false;
        best_.primal = value, best_.w = w, best_.b = b;
        return true;
    }

    template <typename Fill>
    void offer_dual(const DualSums& sums, Fill fill) {
        double scale[2];
        const double value = dual_value(problem_, sums, scale);
        if (!(value > best_.dual)) return;
        best_.dual = value;
        fill(best_.t);
        if (scale[0] != 1.0 || scale[1] != 1.0)
            for (std::size_t i = 0; i < n_; ++i) best_.t[i] *= scale[positive_[i] != 0];
    }

    /// m rows at equal distances of the first n, in class order.
    Rows<T> sample(std::size_t m, std::size_t n) const {
        Rows<T> rows;
        rows.x = x_, rows.d = d_;
        rows.index.reserve(m), rows.weight.reserve(m);
        for (int side = 1; side >= 0; --side) {
            for (std::size_t r = 0; r < m; ++r) {
                const std::size_t i = m == n ? r : static_cast<std::size_t>(static_cast<unsigned __int128>(r) * n / m);
                if ((positive_[i] != 0) != (side == 1) || weight_[i] <= 0) continue;
                rows.index.push_back(static_cast<int64_t>(i)), rows.weight.push_back(weight_[i]);
            }
            if (side == 1) rows.positives = rows.index.size();
        }
        return rows;
    }

    /// The problem on a sample: lambda is the same, so the strength shrinks with the weight.
    Problem scaled(double share) const {
        Problem part = problem_;
        part.strength *= share;
        return part;
    }

    struct Split {  // a level divided into frozen rows (their dual sums) and the rows of the band
        DualSums frozen{0};
        std::vector<std::size_t> band;  // positions in the level
        double loss = 0;
    };

    template <typename Row>
    Split split(std::size_t m, Row row, const std::vector<double>& f, double band) {
        const std::size_t blocks = (m + kChunk - 1) / kChunk;
        std::vector<DualSums> parts(blocks, DualSums(d_));
        std::vector<std::vector<std::size_t>> bands(blocks);
        std::vector<double> losses(blocks, 0.0);
        const auto last = static_cast<std::ptrdiff_t>(blocks);
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
        for (std::ptrdiff_t block = 0; block < last; ++block) {
            const auto id = static_cast<std::size_t>(block);
            DualSums& part = parts[id];
            for (std::size_t r = id * kChunk; r < std::min(m, (id + 1) * kChunk); ++r) {
                const std::size_t i = row(r);
                const double c = weight_[i];
                if (c <= 0) continue;
                const int side = positive_[i] != 0;
                const Segments& loss = problem_.side[side];
                const double z = side ? f[r] : -f[r];
                losses[id] += c * loss.loss(z);
                if (loss.distance_to_kink(z) <= band) {
                    bands[id].push_back(r);
                    continue;
                }
                const double t = loss.slope(z);
                if (t <= 0) continue;
                part.S[side] += c * t, part.G[side] += c * loss.gain(t);
                axpy(c * t, x_ + i * d_, part.V[side].data(), d_);
            }
        }
        Split out;
        out.frozen = DualSums(d_);
        for (std::size_t id = 0; id < blocks; ++id) {
            for (int side = 0; side < 2; ++side) {
                out.frozen.S[side] += parts[id].S[side], out.frozen.G[side] += parts[id].G[side];
                for (std::size_t j = 0; j < d_; ++j) out.frozen.V[side][j] += parts[id].V[side][j];
            }
            out.loss += losses[id];
            out.band.insert(out.band.end(), bands[id].begin(), bands[id].end());
        }
        return out;
    }

    template <typename Row>
    void scores(std::size_t m, Row row, const std::vector<double>& w, double b, std::vector<double>& f) {
        f.resize(m);
        const auto last = static_cast<std::ptrdiff_t>((m + kChunk - 1) / kChunk);
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
        for (std::ptrdiff_t block = 0; block < last; ++block) {
            const std::size_t begin = static_cast<std::size_t>(block) * kChunk, end = std::min(m, begin + kChunk);
            for (std::size_t r = begin; r < end; ++r) f[r] = dot(x_ + row(r) * d_, w.data(), d_) + b;
        }
    }

    double loss_at(const std::vector<double>& f) {
        std::vector<double> parts((n_ + kChunk - 1) / kChunk, 0.0);
        const auto last = static_cast<std::ptrdiff_t>(parts.size());
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
        for (std::ptrdiff_t block = 0; block < last; ++block) {
            double sum = 0;
            const std::size_t begin = static_cast<std::size_t>(block) * kChunk;
            for (std::size_t i = begin; i < std::min(n_, begin + kChunk); ++i)
                sum += weight_[i] * problem_.side[positive_[i] != 0].loss(positive_[i] ? f[i] : -f[i]);
            parts[static_cast<std::size_t>(block)] = sum;
        }
        double total = 0;
        for (double part : parts) total += part;
        return total;
    }

    /// The band's rows in class order: copied if they are few, indexed if a copy would cost memory.
    struct Gathered {
        std::vector<T> values;
        Rows<T> rows;
        std::vector<std::size_t> origin;
    };
    template <typename Row>
    Gathered gather(const std::vector<std::size_t>& band, Row row) const {
        Gathered out;
        const bool copies = 10 * band.size() <= n_;
        if (copies) out.values.resize(band.size() * d_);
        out.rows.d = d_;
        for (int side = 1; side >= 0; --side) {
            for (std::size_t r : band) {
                const std::size_t i = row(r);
                if ((positive_[i] != 0) != (side == 1)) continue;
                const std::size_t at = out.origin.size();
                if (copies) std::copy(x_ + i * d_, x_ + (i + 1) * d_, out.values.data() + at * d_);
                out.origin.push_back(i), out.rows.weight.push_back(weight_[i]);
                out.rows.index.push_back(static_cast<int64_t>(copies ? at : i));
            }
            if (side == 1) out.rows.positives = out.origin.size();
        }
        out.rows.x = copies ? out.values.data() : x_;
        return out;
    }

    double moved(const Rows<T>& probe, const std::vector<double>& w, double b, const std::vector<double>& before,
                 double b_before) const {
        double square = 0;
        const std::size_t m = std::min<std::size_t>(probe.size(), 4000),
                          stride = std::max<std::size_t>(1, probe.size() / std::max<std::size_t>(1, m));
        std::vector<double> delta(d_);
        for (std::size_t j = 0; j < d_; ++j) delta[j] = w[j] - before[j];
        for (std::size_t r = 0; r < m; ++r) {
            const double move =
                dot(x_ + static_cast<std::size_t>(probe.index[r * stride]) * d_, delta.data(), d_) + b - b_before;
            square += move * move;
        }
        return std::sqrt(square / std::max<std::size_t>(1, m));
    }

    /// A band that holds at least 20 (d + 1) rows, by the distances of a sample of the level.
    template <typename Row>
    double widen(double band, std::size_t m, Row row, const std::vector<double>& f) const {
        const std::size_t probes = std::min<std::size_t>(m, 20000);
        const double needed = 20.0 * static_cast<double>(d_ + 1) * static_cast<double>(probes) / static_cast<double>(m);
        std::vector<double> distance(probes);
        for (std::size_t q = 0; q < probes; ++q) {
            const std::size_t r = static_cast<std::size_t>(static_cast<unsigned __int128>(q) * m / probes), i = row(r);
            distance[q] = problem_.side[positive_[i] != 0].distance_to_kink(positive_[i] ? f[r] : -f[r]);
        }
        const auto rank = std::min<std::size_t>(probes - 1, static_cast<std::size_t>(needed));
        std::nth_element(distance.begin(), distance.begin() + static_cast<std::ptrdiff_t>(rank), distance.end());
        return std::max(band, distance[rank]);
    }

    bool by_bands(std::vector<double>& w, double& b, std::size_t smallest, double tol, int max_steps) {
        double total = 0;
        for (std::size_t i = 0; i < n_; ++i) total += weight_[i];
        const Rows<T> first = sample(smallest, n_);
        double share = 0;
        for (double c : first.weight) share += c;
        if (!(share > 0)) return false;
        double stray = 0;  // of the margins, from level to level
        {
            const Problem part = scaled(share / total);
            const DualSums none(d_);
            Newton<T> newton(part, first, none, threads_, interrupt_);
            const double excess = scale_ * static_cast<double>(d_ + 1) / static_cast<double>(smallest);
            newton.solve(w, b, 2 * scale_, 0.05 * share * excess, 60);
            best_.steps += newton.steps;
            stray = newton.stray();
        }
        std::size_t m = smallest;
        while (5 * m < n_) {
            const std::vector<double> w_before = w;
            const double b_before = b;
            level(5 * m, w, b, 2.2 * stray, total);
            // The change estimates the error of this level; that of the next is sqrt(5) times smaller.
            const double change = moved(first, w, b, w_before, b_before);
            stray = std::clamp(change, 0.5 * stray, 3 * stray) / std::sqrt(5.0);
            m *= 5;
        }
        return all_rows(w, b, 2.2 * stray, tol, max_steps);
    }

    /// One round on a strided sample of m rows, as a start for the next level.
    void level(std::size_t m, std::vector<double>& w, double& b, double band, double total) {
        auto row = [&](std::size_t r) { return static_cast<std::size_t>(static_cast<unsigned __int128>(r) * n_ / m); };
        std::vector<double> f;
        scores(m, row, w, b, f);
        band = widen(band, m, row, f);
        const Split parts = split(m, row, f, band);
        const Gathered near = gather(parts.band, row);
        double share = 0;
        for (std::size_t r = 0; r < m; ++r) share += weight_[row(r)];
        const Problem part = scaled(share / total);
        Newton<T> newton(part, near.rows, parts.frozen, threads_, interrupt_);
        newton.solve(w, b, band / 4, share * 0.02 * scale_ * static_cast<double>(d_ + 1) / static_cast<double>(m), 40,
                     2 * band);
        best_.steps += newton.steps;
    }

    bool all_rows(std::vector<double>& w, double& b, double band, double tol, int max_steps) {
        auto row = [](std::size_t r) { return r; };
        std::vector<double> f;
        scores(n_, row, w, b, f);
        ++best_.passes;
        offer_primal(loss_at(f) + penalty(w, b), w, b);
        int failures = 0;
        for (int round = 0; round < 12; ++round) {
            const double reached = widen(band, n_, row, f);
            const Split parts = split(n_, row, f, reached);
            if (5 * parts.band.size() > 4 * n_ + 100 * (d_ + 1)) return false;
            const Gathered near = gather(parts.band, row);
            Newton<T> newton(problem_, near.rows, parts.frozen, threads_, interrupt_);
            const int budget = std::min(150, max_steps / 2 - best_.steps);
            if (budget <= 0) return false;
            newton.solve(w, b, reached / 4, 0.4 * tol * best_.primal, budget, 2 * reached);
            best_.steps += newton.steps;
            offer_dual(newton.sums, [&](std::vector<double>& t) {
                for (std::size_t i = 0; i < n_; ++i)
                    t[i] = weight_[i] > 0 ? problem_.side[positive_[i] != 0].slope(positive_[i] ? f[i] : -f[i]) : 0.0;
                for (std::size_t r = 0; r < near.origin.size(); ++r) t[near.origin[r]] = newton.t[r];
            });
            scores(n_, row, w, b, f);
            ++best_.passes;
            interrupt_.poll();
            if (offer_primal(loss_at(f) + penalty(w, b), w, b)) {
                band = std::max(3 * newton.smoothing, 0.1 * reached);
            } else {
                if (gap_closed(tol)) return true;
                if (++failures == 2) return false;
                w = best_.w, b = best_.b, band = 4 * reached;
                scores(n_, row, w, b, f);
                ++best_.passes;
            }
            if (gap_closed(tol)) return true;
        }
        return false;
    }
};

}  // namespace permissible::boundary
