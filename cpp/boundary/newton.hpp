// Semismooth Newton with multiplier steps on a set of rows, the others being frozen at a dual point of their own.
// Each hinge D (h - z)_+ is smoothed in the dual, max over tau in [0,1] of D [tau (h - z) - e (tau - c)^2], with c =
// 1/2 at first and c <- tau (a proximal step in the dual) once few rows lie between kinks: that reaches degenerate
// vertices where e -> 0 alone stalls.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "boundary/blocks.hpp"
#include "boundary/cholesky.hpp"
#include "boundary/segments.hpp"
#include "common/interrupt.hpp"

namespace permissible::boundary {

/// Rows in class order, the positive ones first: the row r is x + index[r] * d.
template <typename T>
struct Rows {
    const T* x = nullptr;
    std::size_t d = 0;
    std::vector<int64_t> index;
    std::vector<double> weight;
    std::size_t positives = 0;
    std::size_t size() const { return index.size(); }
};

/// Sums over the rows of one class: V = sum c t x (unsigned), S = sum c t, G = sum c g(t).
struct DualSums {
    std::vector<double> V[2];
    double S[2] = {0, 0};
    double G[2] = {0, 0};
    explicit DualSums(std::size_t d = 0) { V[0].assign(d, 0.0), V[1].assign(d, 0.0); }
};

/// D of a dual point. With a free intercept the heavier class is scaled down to balance (g is concave, g(0) = 0, so
/// G(ct) >= cG(t)).
inline double dual_value(const Problem& problem, const DualSums& sums, double scale[2]) {
    scale[0] = scale[1] = 1.0;
    if (problem.fit_intercept && !problem.penalize_intercept) {
        const int heavy = sums.S[1] > sums.S[0];
        if (sums.S[heavy] > 0) scale[heavy] = sums.S[1 - heavy] / sums.S[heavy];
    }
    double square = 0;
    for (std::size_t j = 0; j < sums.V[0].size(); ++j) {
        const double v = scale[1] * sums.V[1][j] - scale[0] * sums.V[0][j];
        square += v * v;
    }
    if (problem.fit_intercept && problem.penalize_intercept) {
        const double s = sums.S[1] - sums.S[0];
        square += s * s;
    }
    return scale[1] * sums.G[1] + scale[0] * sums.G[0] - square / (2 * problem.strength);
}

template <typename T>
class Newton {
  public:
    Newton(const Problem& problem, const Rows<T>& rows, const DualSums& frozen, int threads, Interrupt& interrupt)
        : problem_(problem), rows_(rows), frozen_(frozen), threads_(threads), interrupt_(interrupt), d_(rows.d) {
        const std::size_t m = rows.size();
        z.assign(m, 0), u_.assign(m, 0), t.assign(m, 0), curvature_.assign(m, 0);
        for (int side = 1; side >= 0; --side) {
            const std::size_t begin = side ? 0 : rows.positives, end = side ? rows.positives : m;
            for (std::size_t i = begin; i < end; i += kChunk) chunks_.push_back({i, std::min(i + kChunk, end), side});
        }
        size_ = d_ + (problem.fit_intercept ? 1 : 0);
        stride_ = (size_ + 7) / 8 * 8;
        partial_.assign(chunks_.size() * (d_ + 4), 0.0);
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < problem.side[side].count; ++k)
                spread_ = std::max(spread_, std::abs(problem.side[side].hinge[k]));
    }

    enum class Stop { solved, moved, tired };
    std::vector<double> z, t;  // margins and dual point at the end
    double smoothing = 0;      // e at the end
    double gap = 0;            // of the reduced problem, before the intercept is balanced
    double loss = 0;           // sum c phi(z) over these rows
    DualSums sums{0};          // dual sums of these rows and the frozen ones
    int steps = 0;

    /// Minimise to an absolute gap of `target`; stop early once the margins moved by more than `reach` (rms).
    Stop solve(std::vector<double>& w, double& b, double e, double target, int max_steps, double reach = 1e300) {
        all_margins(w.data(), b, z);
        const std::vector<double> start = reach < 1e299 ? z : std::vector<double>(), w_start = w;
        const double b_start = b;
        smoothing = e;
        double last = 1e300;
        std::size_t before = std::size_t(-1) / 16;
        while (true) {
            for (int inner = 0;; ++inner) {
                interrupt_.poll();
                evaluate(w, b);
                if (residual_ <= 0.05 * std::max(fenchel_, target)) break;
                if (steps >= max_steps) return finish(Stop::tired);
                if (inner >= 60) break;
                ++steps;
                if (!step(w, b)) break;
                if (!start.empty() && rms(start) > reach) {  // too far for the frozen slopes: shorten
                    const double keep = reach / rms(start);
                    for (std::size_t j = 0; j < d_; ++j) w[j] = w_start[j] + keep * (w[j] - w_start[j]);
                    b = b_start + keep * (b - b_start);
                    all_margins(w.data(), b, z);
                    evaluate(w, b);
                    return finish(Stop::moved);
                }
            }
            gap = fenchel_ + residual_;
            if (gap <= target) return finish(Stop::solved);
            if (smoothing < 1e-13) return finish(Stop::tired);
            // Few rows between kinks, or rows that stay there for any e (they are at a kink): multiplier steps.
            const bool stuck = smoothing < 0.02 * spread_ && 10 * active_ > 7 * before;
            before = active_;
            if (active_ <= 4 * size_ || centered_ || stuck) {
                if (!centered_) center_.assign(z.size() * count(), 0.5), centered_ = true;
                recenter_all();
                if (gap > 0.5 * last) smoothing *= 0.5;
                last = gap;
            } else {
                smoothing *= 0.25;
            }
        }
    }

    /// The rms difference of the margins of the minimiser on these rows and on all rows: a sandwich estimate, sqrt(d
    /// E[t^2] / m) / E[curvature].
    double stray() const {
        double mass = 0, second = 0, bend = 0;
        for (std::size_t i = 0; i < z.size(); ++i) {
            mass += rows_.weight[i];
            second += rows_.weight[i] * t[i] * t[i];
            bend += rows_.weight[i] * curvature_[i];
        }
        if (!(bend > 0)) return spread_;
        const double rows = static_cast<double>(z.size());
        return std::min(spread_, std::sqrt(static_cast<double>(size_) * second * mass / rows) / bend);
    }

  private:
    struct Chunk {
        std::size_t begin, end;
        int side;
    };
    const Problem& problem_;
    const Rows<T>& rows_;
    const DualSums& frozen_;
    int threads_;
    Interrupt& interrupt_;
    std::size_t d_, size_ = 0, stride_ = 0, active_ = 0;
    std::vector<Chunk> chunks_;
    std::vector<double> u_, curvature_, center_, partial_, residual_vector_;
    bool centered_ = false;
    double fenchel_ = 0, residual_ = 0, spread_ = 0;

    int count() const { return std::max(problem_.side[0].count, problem_.side[1].count); }
    double inverse_width() const { return 0.5 / smoothing; }
    const double* center_at(std::size_t i) const { return centered_ ? center_.data() + i : nullptr; }
    Stop finish(Stop reason) {
        gap = fenchel_ + residual_;
        return reason;
    }
    double rms(const std::vector<double>& start) const {
        double square = 0;
        for (std::size_t i = 0; i < z.size(); ++i) square += (z[i] - start[i]) * (z[i] - start[i]);
        return std::sqrt(square / std::max<std::size_t>(1, z.size()));
    }

    template <typename Body>
    void each_chunk(Body body) {
        const auto total = static_cast<std::ptrdiff_t>(chunks_.size());
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1 && total > 1)
        for (std::ptrdiff_t c = 0; c < total; ++c)
            body(static_cast<std::size_t>(c), chunks_[static_cast<std::size_t>(c)]);
    }

    void all_margins(const double* w, double b, std::vector<double>& out) {
        each_chunk([&](std::size_t, const Chunk& c) {
            margins(rows_.x, rows_.index.data() + c.begin, c.end - c.begin, d_, w, b, c.side ? 1.0 : -1.0,
                    out.data() + c.begin);
        });
    }

    void recenter_all() {
        each_chunk([&](std::size_t, const Chunk& c) {
            recenter(problem_.side[c.side], c.end - c.begin, z.data() + c.begin, center_.data() + c.begin, z.size(),
                     inverse_width());
        });
    }

    /// t, curvature, V, S, G and the two parts of the gap at the current point.
    void evaluate(const std::vector<double>& w, double b) {
        const std::size_t width = d_ + 4;
        std::fill(partial_.begin(), partial_.end(), 0.0);
        each_chunk([&](std::size_t id, const Chunk& c) {
            double gaps[kChunk], values[kChunk];
            const std::size_t m = c.end - c.begin;
            const double* weight = rows_.weight.data() + c.begin;
            double* dual = t.data() + c.begin;
            respond(problem_.side[c.side], m, z.data() + c.begin, nullptr, 0, center_at(c.begin), z.size(),
                    inverse_width(), dual, curvature_.data() + c.begin);
            fenchel(problem_.side[c.side], m, z.data() + c.begin, dual, gaps, values);
            double* out = partial_.data() + id * width;
            double gain = 0;
            for (std::size_t i = 0; i < m; ++i) {
                if (dual[i] > 0)
                    axpy(weight[i] * dual[i], rows_.x + rows_.index[c.begin + i] * static_cast<int64_t>(d_), out, d_);
                gain += weight[i] * (values[i] - gaps[i] + dual[i] * z[c.begin + i]);
            }
            out[d_] = weighted_sum(weight, dual, m);
            out[d_ + 1] = weighted_sum(weight, gaps, m);
            out[d_ + 2] = weighted_sum(weight, values, m);
            out[d_ + 3] = gain;
        });
        sums = frozen_;
        fenchel_ = loss = 0;
        for (std::size_t id = 0; id < chunks_.size(); ++id) {
            const int side = chunks_[id].side;
            const double* part = partial_.data() + id * width;
            for (std::size_t j = 0; j < d_; ++j) sums.V[side][j] += part[j];
            sums.S[side] += part[d_], fenchel_ += part[d_ + 1], loss += part[d_ + 2], sums.G[side] += part[d_ + 3];
        }
        residual_vector_.assign(stride_, 0.0);
        double square = 0;
        for (std::size_t j = 0; j < d_; ++j) {
            const double r = sums.V[1][j] - sums.V[0][j] - problem_.strength * w[j];
            residual_vector_[j] = r, square += r * r;
        }
        residual_ = square / (2 * problem_.strength);
        if (problem_.fit_intercept) {
            const double r = sums.S[1] - sums.S[0] - (problem_.penalize_intercept ? problem_.strength * b : 0.0);
            residual_vector_[d_] = r;
            residual_ += problem_.penalize_intercept ? r * r / (2 * problem_.strength) : std::abs(r) * spread_;
        }
    }

    /// The Newton matrix, in at most 16 parts merged in order. Only rows between kinks have curvature.
    std::vector<double> matrix() {
        const std::size_t cells = stride_ * stride_;
        const std::size_t m = z.size();
        std::size_t parts = std::min<std::size_t>(16, std::max<std::size_t>(1, (std::size_t{1} << 23) / cells));
        parts = std::min(parts, std::max<std::size_t>(1, m / 512));
        std::vector<double> total(parts * cells, 0.0);
        std::vector<std::size_t> counts(parts, 0);
        const auto last = static_cast<std::ptrdiff_t>(parts);
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1 && last > 1)
        for (std::ptrdiff_t p = 0; p < last; ++p) {
            const auto part = static_cast<std::size_t>(p);
            counts[part] = accumulate(m * part / parts, m * (part + 1) / parts, total.data() + part * cells);
        }
        active_ = counts[0];
        for (std::size_t part = 1; part < parts; ++part) {
            active_ += counts[part];
            for (std::size_t c = 0; c < cells; ++c) total[c] += total[part * cells + c];
        }
        total.resize(cells);
        return total;
    }

    std::size_t accumulate(std::size_t begin, std::size_t end, double* H) {
        constexpr std::size_t depth = 64;
        std::vector<double> tile(depth * stride_, 0.0);
        std::size_t filled = 0, bent = 0;
        for (std::size_t i = begin; i < end; ++i) {
            if (curvature_[i] <= 0 || rows_.weight[i] <= 0) continue;
            const double scale = std::sqrt(rows_.weight[i] * curvature_[i]);
            double* out = tile.data() + filled * stride_;
            const T* x = rows_.x + rows_.index[i] * static_cast<int64_t>(d_);
            for (std::size_t j = 0; j < d_; ++j) out[j] = scale * static_cast<double>(x[j]);
            if (problem_.fit_intercept) out[d_] = scale;
            ++bent;
            if (++filled == depth) rank_update(tile.data(), filled, stride_, 0, 1.0, H), filled = 0;
        }
        if (filled > 0) rank_update(tile.data(), filled, stride_, 0, 1.0, H);
        return bent;
    }

    bool step(std::vector<double>& w, double& b) {
        std::vector<double> H = matrix();
        for (std::size_t j = 0; j < d_; ++j) H[j * stride_ + j] += problem_.strength;
        std::vector<double> p = residual_vector_;
        if (problem_.fit_intercept) {
            double& bend = H[d_ * stride_ + d_];
            if (problem_.penalize_intercept) bend += problem_.strength;
            // With few rows between kinks the intercept has hardly any curvature: bound its step by a few hinges.
            bend += 1e-14 * bend;
            if (!problem_.penalize_intercept && bend < std::abs(p[d_]) / (2 * spread_))
                bend += std::abs(p[d_]) / (2 * spread_);
            if (bend <= 0) bend = 1;
        }
        factor(H.data(), size_, stride_);
        substitute(H.data(), size_, stride_, p.data());
        const double intercept_step = problem_.fit_intercept ? p[d_] : 0.0;
        all_margins(p.data(), intercept_step, u_);
        const double length = search(w, b, p, intercept_step);
        if (!(length > 0)) return false;
        for (std::size_t j = 0; j < d_; ++j) w[j] += length * p[j];
        b += length * intercept_step;
        each_chunk([&](std::size_t, const Chunk& c) {
            for (std::size_t i = c.begin; i < c.end; ++i) z[i] += length * u_[i];
        });
        return true;
    }

    /// The zero of the derivative along p, to a tenth of its value at the start.
    double search(const std::vector<double>& w, double b, const std::vector<double>& p, double pb) {
        double linear = 0, square = 0;
        for (std::size_t j = 0; j < d_; ++j) {
            linear += (problem_.strength * w[j] - (frozen_.V[1][j] - frozen_.V[0][j])) * p[j];
            square += problem_.strength * p[j] * p[j];
        }
        linear -= (frozen_.S[1] - frozen_.S[0]) * pb;
        if (problem_.fit_intercept && problem_.penalize_intercept)
            linear += problem_.strength * b * pb, square += problem_.strength * pb * pb;
        std::vector<double> parts(chunks_.size());
        auto derivative = [&](double s) {
            each_chunk([&](std::size_t id, const Chunk& c) {
                double dual[kChunk];
                const std::size_t m = c.end - c.begin;
                respond(problem_.side[c.side], m, z.data() + c.begin, u_.data() + c.begin, s, center_at(c.begin),
                        z.size(), inverse_width(), dual, nullptr);
                parts[id] = weighted_sum(rows_.weight.data() + c.begin, dual, u_.data() + c.begin, m);
            });
            double sum = linear + s * square;
            for (double part : parts) sum -= part;
            return sum;
        };
        const double start = derivative(0);
        if (!(start < 0)) return 0;
        double low = 0, high = 1, at_low = start, at_high = derivative(1);
        for (int grow = 0; at_high < 0.5 * start && grow < 60; ++grow)
            low = high, at_low = at_high, high *= 2, at_high = derivative(high);
        if (at_high <= -0.1 * start) return high;
        int side = 0;
        for (int trial = 0; trial < 80;
             ++trial) {  // Illinois: false position that never keeps one end twice; bisection at times
            double mid = low - at_low * (high - low) / (at_high - at_low);
            if (trial % 3 == 2) mid = low > 0 && high > 8 * low ? std::sqrt(low * high) : 0.5 * (low + high);
            const double at_mid = derivative(mid);
            if (std::abs(at_mid) <= -0.1 * start) return mid;
            if (at_mid < 0) {
                low = mid, at_low = at_mid;
                if (side == -1) at_high *= 0.5;
                side = -1;
            } else {
                high = mid, at_high = at_mid;
                if (side == 1) at_low *= 0.5;
                side = 1;
            }
        }
        return low > 0 ? low : high;
    }
};

}  // namespace permissible::boundary
