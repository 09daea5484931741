// Pair updates (SMO) on the K-segment dual of (18) of [K]: gamma_i = y_i c_i t_i, f = K gamma / L. A pair moves along
// gamma_i + s, gamma_j - s, through the breakpoints of both rows until the slope is zero. The search runs on stored
// kernel rows (single precision for many rows); the certificate recomputes f in double precision from the dual point.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "boundary/blocks.hpp"
#include "boundary/intercept.hpp"
#include "boundary/kernel/pairs.hpp"
#include "boundary/segments.hpp"
#include "common/interrupt.hpp"

namespace permissible::boundary {

struct KernelSolution {
    std::vector<double> t, f;
    double b = 0, primal = 1e300, dual = -1e300, square = 0;
    int64_t updates = 0;
    bool converged = false;
};

/// Rows: `const T* row(i, pinned)` for the search, `add_four(rows, coef, out)` for the certificate, `double
/// diagonal(i)`.
template <typename T, typename Rows>
class PairSolver {
  public:
    PairSolver(const Problem& problem, Rows& rows, const int8_t* positive, const double* weight, std::size_t n,
               Interrupt& interrupt)
        : problem_(problem), rows_(rows), positive_(positive), weight_(weight), n_(n), interrupt_(interrupt) {
        for (int side = 0; side < 2; ++side) {
            edges_[side].assign(1, 0.0);
            for (int k = 0; k < problem.side[side].count; ++k)
                edges_[side].push_back(edges_[side].back() + problem.side[side].width[k]);
        }
    }

    KernelSolution solve(std::vector<double> t, double tol, int64_t max_updates) {
        start(std::move(t));
        double eps = 0.1;
        for (int64_t since = 0; out_.updates < max_updates; ++out_.updates, ++since) {
            if ((out_.updates & 255) == 0) interrupt_.poll();
            if (tied() ? steep_.up - steep_.down <= eps : single_violation() <= eps) {
                const double estimate = value_gap();
                if (estimate <= 0.9 * tol * std::abs(estimate_primal_) || eps < 1e-12) {
                    certify();
                    if (closed(tol) || eps < 1e-12) break;
                }
                eps *= std::clamp(0.5 * tol * std::abs(estimate_primal_) / std::max(estimate, 1e-300), 0.05, 0.5);
                steep_ = move_scores(0.0, static_cast<const T*>(nullptr), static_cast<const T*>(nullptr),
                                     up_scan_.data(), down_scan_.data(), f_.data(), n_);
                continue;
            }
            if (!(tied() ? pair() : single())) {  // no pair improves the objective on these rows
                certify();
                if (closed(tol) || stuck_++ > 2) break;
            }
        }
        if (!closed(tol)) certify();
        out_.converged = closed(tol);
        return out_;
    }

  private:
    const Problem problem_;
    Rows& rows_;
    const int8_t* positive_;
    const double* weight_;
    std::size_t n_;
    Interrupt& interrupt_;
    KernelSolution out_;
    std::vector<double> edges_[2];
    std::vector<double> t_, f_, up_, down_, diagonal_;
    std::vector<T> up_scan_, down_scan_;  // U and L in the precision of the rows, for the scans
    bool even_ = true;                    // all diagonal entries are equal, as for the rbf kernel
    std::vector<int> segment_;            // number of segments that are full
    Steepest steep_;
    double estimate_primal_ = 0;
    int stuck_ = 0;

    bool tied() const { return problem_.fit_intercept && !problem_.penalize_intercept; }
    bool closed(double tol) const { return out_.primal - out_.dual <= tol * std::abs(out_.primal); }
    double sign(std::size_t i) const { return positive_[i] ? 1.0 : -1.0; }

    void start(std::vector<double> t) {
        t_ = std::move(t), f_.assign(n_, 0.0), up_.assign(n_, 0.0), down_.assign(n_, 0.0), diagonal_.assign(n_, 0.0),
        segment_.assign(n_, 0);
        up_scan_.assign(n_, T(0)), down_scan_.assign(n_, T(0));
        for (std::size_t i = 0; i < n_; ++i) {
            diagonal_[i] = rows_.diagonal(i);
            even_ = even_ && diagonal_[i] == diagonal_[0];
            if (weight_[i] <= 0) t_[i] = 0;
            const auto& edge = edges_[positive_[i] != 0];
            t_[i] = std::clamp(t_[i], 0.0, edge.back());
            while (segment_[i] < problem_.side[positive_[i] != 0].count &&
                   t_[i] >= edge[static_cast<std::size_t>(segment_[i]) + 1])
                ++segment_[i];
            slopes(i);
        }
        exact_scores(f_);
        steep_ = move_scores(0.0, static_cast<const T*>(nullptr), static_cast<const T*>(nullptr), up_scan_.data(),
                             down_scan_.data(), f_.data(), n_);
    }

    /// U and L: y times the slope of g in the direction that raises, or lowers, gamma = y c t.
    void slopes(std::size_t i) {
        set_slopes(i);
        up_scan_[i] = static_cast<T>(up_[i]), down_scan_[i] = static_cast<T>(down_[i]);
    }
    void set_slopes(std::size_t i) {
        if (weight_[i] <= 0) {
            up_[i] = -1e200, down_[i] = 1e200;
            return;
        }
        const int side = positive_[i] != 0;
        const Segments& loss = problem_.side[side];
        const int k = segment_[i];
        const bool at_edge = t_[i] <= edges_[side][static_cast<std::size_t>(k)];
        const double more = k < loss.count ? loss.hinge[k] : -1e200;               // slope of g to the right of t
        const double less = at_edge ? (k > 0 ? loss.hinge[k - 1] : 1e200) : more;  // and to the left
        up_[i] = side ? more : -less;
        down_[i] = side ? less : -more;
    }

    /// How far gamma_i can move in a direction before t_i reaches its next breakpoint.
    double room(std::size_t i, bool raise) const {
        const auto& edge = edges_[positive_[i] != 0];
        const auto k = static_cast<std::size_t>(segment_[i]);
        const bool grows = raise == (positive_[i] != 0);
        if (grows) return k + 1 < edge.size() ? weight_[i] * (edge[k + 1] - t_[i]) : 0.0;
        if (t_[i] > edge[k]) return weight_[i] * (t_[i] - edge[k]);
        return k > 0 ? weight_[i] * (t_[i] - edge[k - 1]) : 0.0;
    }

    /// Move gamma_i by `amount` > 0 in a direction; `full` says that it lands exactly on the breakpoint.
    void shift(std::size_t i, bool raise, double amount, bool full) {
        const auto& edge = edges_[positive_[i] != 0];
        const bool grows = raise == (positive_[i] != 0);
        auto k = static_cast<std::size_t>(segment_[i]);
        if (grows) {
            if (full)
                t_[i] = edge[k + 1], ++k;
            else
                t_[i] = std::min(t_[i] + amount / weight_[i], edge[k + 1]);
        } else {
            if (t_[i] <= edge[k]) --k;
            t_[i] = full ? edge[k] : std::max(t_[i] - amount / weight_[i], edge[k]);
        }
        segment_[i] = static_cast<int>(k);
        if (k + 1 < edge.size() && t_[i] >= edge[k + 1]) t_[i] = edge[k + 1], ++segment_[i];
        slopes(i);
    }

    bool pair() {
        const std::size_t i = steep_.row;
        const T* row_i = rows_.row(i, i);
        const std::size_t j = best_partner(steep_.up, diagonal_[i], row_i, even_ ? nullptr : diagonal_.data(),
                                           down_scan_.data(), f_.data(), n_);
        if (j == n_ || j == i) return false;
        const double bend =
            std::max(diagonal_[i] + diagonal_[j] - 2.0 * static_cast<double>(row_i[j]), 1e-12) / problem_.strength;
        double moved = 0;
        const double offset = f_[i] - f_[j];
        for (int hop = 0; hop < 1000; ++hop) {
            const double slope = up_[i] - down_[j] - offset - bend * moved;
            if (!(slope > 0)) break;
            double s = slope / bend;
            const double room_i = room(i, true), room_j = room(j, false);
            s = std::min({s, room_i, room_j});
            if (!(s > 0)) break;
            shift(i, true, s, s == room_i), shift(j, false, s, s == room_j);
            moved += s;
            if (s < room_i && s < room_j) break;
        }
        if (!(moved > 0)) return false;
        const T* row_j = rows_.row(j, i);
        row_i = rows_.row(i, j);
        steep_ =
            move_scores(moved / problem_.strength, row_i, row_j, up_scan_.data(), down_scan_.data(), f_.data(), n_);
        return true;
    }

    double single_violation() {
        const std::size_t i = best_single(diagonal_.data(), up_.data(), down_.data(), f_.data(), n_);
        steep_.row = i;
        return i == n_ ? 0.0 : std::max(up_[i] - f_[i], f_[i] - down_[i]);
    }

    bool single() {
        const std::size_t i = steep_.row;
        if (i >= n_) return false;
        const bool raise = up_[i] - f_[i] > 0;
        const double bend = std::max(diagonal_[i], 1e-12) / problem_.strength;
        double moved = 0;
        for (int hop = 0; hop < 1000; ++hop) {
            const double slope = (raise ? up_[i] - f_[i] : f_[i] - down_[i]) - bend * moved;
            const double reach = room(i, raise), s = std::min(slope / bend, reach);
            if (!(slope > 0) || !(s > 0)) break;
            shift(i, raise, s, s == reach);
            moved += s;
            if (s < reach) break;
        }
        if (!(moved > 0)) return false;
        move_scores((raise ? moved : -moved) / problem_.strength, rows_.row(i, i), static_cast<const T*>(nullptr),
                    up_scan_.data(), down_scan_.data(), f_.data(), n_);
        return true;
    }

    double intercept_estimate() const { return tied() ? 0.5 * (steep_.up + steep_.down) : 0.0; }

    /// sum of Fenchel gaps at the scores kept so far, with the intercept in the middle of [m, M].
    double value_gap() {
        const double b = intercept_estimate();
        double gap = 0, loss_sum = 0, square = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const Segments& loss = problem_.side[positive_[i] != 0];
            const double z = sign(i) * (f_[i] + b), value = loss.loss(z);
            gap += weight_[i] * (value - loss.gain(t_[i]) + t_[i] * z);
            loss_sum += weight_[i] * value, square += sign(i) * weight_[i] * t_[i] * f_[i];
        }
        estimate_primal_ = loss_sum + 0.5 * square;
        return gap;
    }

    /// f = K gamma / L in double precision, four rows at a time.
    void exact_scores(std::vector<double>& f) {
        std::fill(f.begin(), f.end(), 0.0);
        std::vector<std::size_t> support;
        std::vector<double> coef;
        for (std::size_t j = 0; j < n_; ++j)
            if (t_[j] > 0) support.push_back(j), coef.push_back(sign(j) * weight_[j] * t_[j] / problem_.strength);
        while (support.size() % 4 != 0) support.push_back(0), coef.push_back(0.0);
        for (std::size_t a = 0; a < support.size(); a += 4) {
            if ((a & 255) == 0) interrupt_.poll();
            rows_.add_four(support.data() + a, coef.data() + a, f.data());
        }
    }

    void certify() {
        exact_scores(f_);
        steep_ = move_scores(0.0, static_cast<const T*>(nullptr), static_cast<const T*>(nullptr), up_scan_.data(),
                             down_scan_.data(), f_.data(), n_);
        const double b =
            tied() ? best_intercept(problem_, f_.data(), positive_, weight_, n_, intercept_estimate()) : 0.0;
        double gain = 0, losses = 0, square = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const Segments& loss = problem_.side[positive_[i] != 0];
            gain += weight_[i] * loss.gain(t_[i]), losses += weight_[i] * loss.loss(sign(i) * (f_[i] + b));
            square += sign(i) * weight_[i] * t_[i] * f_[i];
        }
        const double primal = losses + 0.5 * square, dual = gain - 0.5 * square;
        // Scores, dual point and both values must be consistent: keep those of the smallest gap.
        if (primal - dual < out_.primal - out_.dual || out_.t.empty())
            out_.primal = primal, out_.dual = dual, out_.t = t_, out_.f = f_, out_.b = b,
            out_.square = square / problem_.strength;
    }
};

}  // namespace permissible::boundary
