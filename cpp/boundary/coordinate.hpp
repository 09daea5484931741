// Dual coordinate descent for (18) of [K] on sparse or wide rows: each step solves one row's dual variable exactly
// through all K segments,
//   t <- sum_k clip((h_k - v) / q - t_{k-1}, 0, D_k),  v = z - q t,  q = c |x|^2 / L,
// the free intercept by a multiplier: b = b_0 + S / rho, S = sum c t y, and b_0 <- b after each epoch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "boundary/dense.hpp"
#include "boundary/intercept.hpp"

namespace permissible::boundary {

template <typename T>
struct DenseStore {
    const T* x;
    std::size_t n, d;
    double times(std::size_t i, const double* w) const { return dot(x + i * d, w, d); }
    void add(std::size_t i, double a, double* out) const { axpy(a, x + i * d, out, d); }
    double square(std::size_t i) const {
        if constexpr (std::is_same_v<T, double>) {
            return dot(x + i * d, x + i * d, d);
        } else {
            double sum = 0;
            for (std::size_t j = 0; j < d; ++j)
                sum += static_cast<double>(x[i * d + j]) * static_cast<double>(x[i * d + j]);
            return sum;
        }
    }
    void fetch(std::size_t) const {}
};

template <typename T>
struct SparseStore {
    const T* values;
    const int32_t* columns;
    const int64_t* starts;
    std::size_t n, d;
    double times(std::size_t i, const double* w) const {
        double even = 0, odd = 0;
        int64_t k = starts[i];
        for (; k + 1 < starts[i + 1]; k += 2) {
            even += static_cast<double>(values[k]) * w[columns[k]];
            odd += static_cast<double>(values[k + 1]) * w[columns[k + 1]];
        }
        if (k < starts[i + 1]) even += static_cast<double>(values[k]) * w[columns[k]];
        return even + odd;
    }
    void add(std::size_t i, double a, double* out) const {
        for (int64_t k = starts[i]; k < starts[i + 1]; ++k) out[columns[k]] += a * static_cast<double>(values[k]);
    }
    double square(std::size_t i) const {
        double sum = 0;
        for (int64_t k = starts[i]; k < starts[i + 1]; ++k)
            sum += static_cast<double>(values[k]) * static_cast<double>(values[k]);
        return sum;
    }
    void fetch(std::size_t i) const {
        for (int64_t k = starts[i]; k < starts[i + 1]; k += static_cast<int64_t>(64 / sizeof(T)))
            __builtin_prefetch(values + k);
        for (int64_t k = starts[i]; k < starts[i + 1]; k += 16) __builtin_prefetch(columns + k);
    }
};

template <typename Store>
class CoordinateSolver {
  public:
    CoordinateSolver(const Problem& problem, Store store, const int8_t* positive, const double* weight, uint64_t seed,
                     Interrupt& interrupt)
        : problem_(problem),
          x_(store),
          positive_(positive),
          weight_(weight),
          random_(seed * 2 + 1),
          interrupt_(interrupt) {}

    /// `t` is the dual point to start from (zeros, or that of a nearby lambda).
    Solution solve(std::vector<double> t, double b, double tol, int max_epochs) {
        prepare(std::move(t), b);
        std::vector<std::size_t> order = usable_;
        double margin = 1e300;
        for (int epoch = 0; epoch < max_epochs; ++epoch) {
            interrupt_.poll();
            const double estimate = sweep(order, margin);
            ++out_.steps;
            if (free_intercept()) base_ = b_, b_ = base_ + S_ / rho_;
            if (estimate <= 0.9 * tol * loss_estimate_ || order.empty() || margin <= 1e-13) {
                certify();
                if (closed(tol)) break;
                const bool complete = order.size() == usable_.size();
                if (complete && margin <= 1e-13) break;  // no variable changes
                order = usable_, margin = 1e300, resting_ = 0;
            }
        }
        if (!closed(tol)) certify();
        out_.converged = closed(tol);
        return out_;
    }

  private:
    const Problem problem_;
    Store x_;
    const int8_t* positive_;
    const double* weight_;
    uint64_t random_;
    Interrupt& interrupt_;
    Solution out_;
    std::vector<double> t_, w_, q_;
    std::vector<double> edges_[2];  // t_0 = 0, t_1, .. t_K of each class
    std::vector<std::size_t> usable_;
    double b_ = 0, base_ = 0, S_ = 0, rho_ = 1, loss_estimate_ = 0;
    double resting_ = 0;  // losses of the dropped rows, as they were then

    bool free_intercept() const { return problem_.fit_intercept && !problem_.penalize_intercept; }
    bool closed(double tol) const { return out_.primal - out_.dual <= tol * std::abs(out_.primal); }
    uint64_t draw() {  // xorshift64*
        random_ ^= random_ >> 12, random_ ^= random_ << 25, random_ ^= random_ >> 27;
        return random_ * 0x2545F4914F6CDD1DULL;
    }

    void prepare(std::vector<double> t, double b) {
        const std::size_t n = x_.n;
        t_ = std::move(t), w_.assign(x_.d, 0.0), q_.assign(n, 0.0);
        for (int side = 0; side < 2; ++side) {
            edges_[side].assign(1, 0.0);
            for (int k = 0; k < problem_.side[side].count; ++k)
                edges_[side].push_back(edges_[side].back() + problem_.side[side].width[k]);
        }
        double squares = 0, total = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (weight_[i] <= 0) {
                t_[i] = 0;
                continue;
            }
            usable_.push_back(i);
            q_[i] = x_.square(i);
            squares += weight_[i] * q_[i], total += weight_[i];
            t_[i] = std::clamp(t_[i], 0.0, edges_[positive_[i] != 0].back());
            if (t_[i] > 0) {
                const double signed_t = (positive_[i] ? 1.0 : -1.0) * weight_[i] * t_[i];
                x_.add(i, signed_t / problem_.strength, w_.data());
                S_ += signed_t;
            }
        }
        // The step of a free intercept is on the scale of those of the features: 1/rho between 1/L and mean |x|^2 / L.
        rho_ = problem_.penalize_intercept
                   ? problem_.strength
                   : problem_.strength / std::max(1.0, std::sqrt(squares / std::max(total, 1e-300)));
        for (std::size_t i : usable_)
            q_[i] = std::max(weight_[i] * (q_[i] / problem_.strength + (problem_.fit_intercept ? 1.0 / rho_ : 0.0)),
                             1e-290);
        base_ = free_intercept() ? b : 0.0;
        b_ = problem_.fit_intercept ? base_ + S_ / rho_ : 0.0;
        out_.w.assign(x_.d, 0.0), out_.t.assign(n, 0.0);
    }

    /// One pass in random order over `order`, from which rows at rest at a breakpoint are dropped. Returns the gap
    /// accumulated during the pass.
    double sweep(std::vector<std::size_t>& order, double& margin) {
        for (std::size_t a = order.size(); a > 1; --a)
            std::swap(order[a - 1],
                      order[static_cast<std::size_t>((static_cast<unsigned __int128>(draw()) * a) >> 64)]);
        const double slack = margin;
        double largest = 0, gap = 0, losses = 0;
        std::size_t kept = 0;
        for (std::size_t place = 0; place < order.size(); ++place) {
            const std::size_t i = order[place];
            if (place + 2 < order.size()) x_.fetch(order[place + 2]);
            const int side = positive_[i] != 0;
            const double sign = side ? 1.0 : -1.0, q = q_[i], t = t_[i];
            const Segments& loss = problem_.side[side];
            const double* edge = edges_[side].data();
            const double z = sign * (x_.times(i, w_.data()) + b_), v = z - q * t;
            double fresh = 0, value = 0, gain = 0;
            bool rests = slack < 1e299;
            for (int k = 0; k < loss.count; ++k) {
                const double h = loss.hinge[k], width = loss.width[k];
                const double part = (h - v) / q - edge[k];
                fresh += part <= 0 ? 0.0 : (part >= width ? width : part);
                value += width * std::max(h - z, 0.0);
                gain += h * std::clamp(t - edge[k], 0.0, width);
                // At rest: strictly inside the interval of margins that belongs to the breakpoint t.
                rests = rests && (t >= edge[k + 1] ? z < h - slack : (t <= edge[k] && z > h + slack));
            }
            gap += weight_[i] * (value - gain + t * z);
            (rests ? resting_ : losses) += weight_[i] * value;
            if (rests) continue;
            order[kept++] = i;
            const double move = fresh - t;
            if (std::abs(move) * q < 1e-13) continue;
            largest = std::max(largest, std::abs(move) * q);
            t_[i] = fresh;
            const double change = sign * weight_[i] * move;
            x_.add(i, change / problem_.strength, w_.data());
            S_ += change;
            if (problem_.fit_intercept) b_ += change / rho_;
        }
        order.resize(kept);
        margin = largest;
        double norm = dot(w_.data(), w_.data(), x_.d);
        loss_estimate_ = resting_ + losses + 0.5 * problem_.strength * norm;
        if (free_intercept()) gap += std::abs(S_) * std::abs(b_ - base_);
        return std::abs(gap);
    }

    /// Primal and dual values from scratch, in double precision, over all rows.
    void certify() {
        const std::size_t n = x_.n, d = x_.d;
        DualSums sums(d);
        for (std::size_t i : usable_) {
            if (t_[i] <= 0) continue;
            const int side = positive_[i] != 0;
            x_.add(i, weight_[i] * t_[i], sums.V[side].data());
            sums.S[side] += weight_[i] * t_[i], sums.G[side] += weight_[i] * problem_.side[side].gain(t_[i]);
        }
        for (std::size_t j = 0; j < d; ++j) w_[j] = (sums.V[1][j] - sums.V[0][j]) / problem_.strength;
        S_ = sums.S[1] - sums.S[0];
        std::vector<double> f(n, 0.0);
        for (std::size_t i : usable_) f[i] = x_.times(i, w_.data());
        double b = problem_.fit_intercept
                       ? (problem_.penalize_intercept ? S_ / problem_.strength
                                                      : best_intercept(problem_, f.data(), positive_, weight_, n, b_))
                       : 0.0;
        double square =
            dot(w_.data(), w_.data(), d) + (problem_.penalize_intercept && problem_.fit_intercept ? b * b : 0.0);
        double primal = 0.5 * problem_.strength * square;
        for (std::size_t i : usable_)
            primal += weight_[i] * problem_.side[positive_[i] != 0].loss((positive_[i] ? 1.0 : -1.0) * (f[i] + b));
        double scale[2];
        const double dual = dual_value(problem_, sums, scale);
        if (primal < out_.primal) out_.primal = primal, out_.w = w_, out_.b = b;
        if (dual > out_.dual) {
            out_.dual = dual, out_.t = t_;
            for (std::size_t i = 0; i < n; ++i) out_.t[i] *= scale[positive_[i] != 0];
        }
        ++out_.passes;
        if (free_intercept()) base_ = b, b_ = base_ + S_ / rho_;
        if (problem_.fit_intercept && problem_.penalize_intercept) b_ = b;
    }
};

}  // namespace permissible::boundary
