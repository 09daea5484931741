// The passes over rows of each of the five losses (row_scores.hpp), four classes at a time, in the same order on every
// machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/lanes.hpp"
#include "common/parallel.hpp"
#include "mcboost/row_scores.hpp"

namespace permissible::mcboost {

inline constexpr double kLeast = 1e-280;  // of q
using Four = Lanes<V4>;

PERMISSIBLE_INLINE double total4(V4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }
PERMISSIBLE_INLINE double most4(V4 v) { return std::max(std::max(v[0], v[2]), std::max(v[1], v[3])); }

struct Scratch {
    explicit Scratch(std::size_t width) : g(width), h(width), along(width) {}
    std::vector<double> g, h, along;
};

/// The passes of one loss.
template <Loss L>
struct RowPasses {
    static constexpr bool log_sum = L == Loss::gll, linear = L == Loss::ls, pairs = L == Loss::lt;

    /// Negative gradient and diagonal of the Hessian of one row, with respect to S; returns N / q_z, N Z or N R.
    static PERMISSIBLE_INLINE double derive(const double* q, const double* c, std::size_t width, std::size_t classes,
                                            std::size_t z, double spread, double* g, double* h) {
        V4 sum{};
        for (std::size_t k = 0; k < width; k += 4) sum += Four::load(c + k) * Four::load(q + k);
        const double n = total4(sum);
        if constexpr (pairs) {
            double r = 0.0;
            for (std::size_t k = 0; k < classes; ++k) r += 1.0 / q[k];
            for (std::size_t k = 0; k < classes; ++k) {
                const double up = c[k] * q[k] * r, down = n / q[k];
                g[k] = down - up, h[k] = std::max(up + down - 2.0 * c[k], 0.0);
            }
            return n * r;
        }
        const double scale = log_sum ? 1.0 / (n + q[z]) : linear ? spread : 1.0 / q[z];
        for (std::size_t k = 0; k < width; k += 4) {
            const V4 u = Four::load(c + k) * Four::load(q + k) * scale;
            Four::store(g + k, -u);
            Four::store(h + k, log_sum ? u - u * u : u);
        }
        if constexpr (log_sum) g[z] = n * scale, h[z] = (q[z] * scale) * (n * scale);
        if constexpr (!log_sum && !linear) g[z] = h[z] = n * scale;
        return log_sum ? n / q[z] : n * scale;
    }

    /// The first and second derivative (downhill, then upwards) of a row along `d`.
    static PERMISSIBLE_INLINE Slopes project(const double* q, const double* c, std::size_t width, std::size_t classes,
                                             std::size_t z, const double* d, const double* g, const double* h,
                                             bool coordinate) {
        if constexpr (pairs) {
            double n[3] = {}, r[3] = {}, first = 0.0, diagonal = 0.0;
            for (std::size_t k = 0; k < classes; ++k) {
                const double e = d[k] - d[z], up = c[k] * q[k], down = 1.0 / q[k];
                n[0] += up, n[1] += e * up, n[2] += e * e * up;
                r[0] += down, r[1] += e * down, r[2] += e * e * down;
                first += d[k] * g[k], diagonal += h[k];
            }
            return {first, coordinate ? std::max(n[2] * r[0] - 2.0 * n[1] * r[1] + n[0] * r[2], 0.0) : diagonal};
        }
        V4 along{}, square{}, sums{}, curve{}, all{};
        const double origin = linear ? 0.0 : d[z];
        for (std::size_t k = 0; k < width; k += 4) {
            const V4 gk = Four::load(g + k), dk = Four::load(d + k), e = dk - origin;
            along += gk * dk;
            sums += gk;
            all += dk;
            curve += Four::load(h + k);
            square += gk * e * e;  // -u e^2; the own class has e = 0, or g = 0
        }
        double first = total4(along);
        if constexpr (linear) first -= total4(sums) * (total4(all) / static_cast<double>(classes));
        if (!coordinate) return {first, total4(curve)};
        const double second = -total4(square);
        return {first, std::max(log_sum ? second - first * first : second, 0.0)};
    }

    static PERMISSIBLE_CLONES Terms move(RowScores& s, std::size_t begin, std::size_t end, const uint8_t* leaf,
                                         const double* factor, const Along& along, Scratch& scratch) {
        const std::size_t width = s.width_, classes = s.classes_;
        double *g = scratch.g.data(), *h = scratch.h.data();
        V4 most_g{}, most_h{};
        for (std::size_t i = begin; i < end; ++i) {
            double* q = &s.q_[i * width];
            const std::size_t z = s.target_[i];
            if (factor) {
                const double* f = factor + leaf[i] * width;
                V4 sums{};
                for (std::size_t k = 0; k < width; k += 4) {
                    const V4 next = Four::load(q + k) * Four::load(f + k);
                    Four::store(q + k, next);
                    sums += next;
                }
                const double sum = total4(sums), scale = 1.0 / sum;
                for (std::size_t k = 0; k < width; k += 4)
                    Four::store(q + k, larger(Four::load(q + k) * scale, Four::all(kLeast)));
                if constexpr (linear) s.spread_[i] *= sum;
            }
            const double* c = s.costs_of(i);
            s.value_[i] = derive(q, c, width, classes, z, linear ? s.spread_[i] : 0.0, g, h);
            const double* d = scratch.along.data();
            const Slopes found = project(q, c, width, classes, z, d, g, h, along.coordinate);
            const double weight = s.weight_of(i);
            s.gradient_[i] = static_cast<float>(found.first * weight);
            s.curvature_[i] = static_cast<float>(found.second * weight);
            s.slope_[i] = found.first * weight, s.bend_[i] = found.second * weight;
            if (along.coordinate) {
                most_g[0] = std::max(most_g[0], std::fabs(found.first) * weight);
                most_h[0] = std::max(most_h[0], found.second * weight);
            } else if constexpr (!log_sum) {
                for (std::size_t k = 0; k < width; k += 4) {
                    most_g = larger(most_g, magnitude(Four::load(g + k)) * weight);
                    most_h = larger(most_h, Four::load(h + k) * weight);
                }
            }
        }
        if (log_sum && !along.coordinate) return {s.largest_weight_, s.largest_weight_};
        return {most4(most_g), most4(most_h)};
    }

    /// The same for GLL, whose sums come with the normalisation: with a = C_zj q_j those of a, a d, and a d^2 or a^2.
    static PERMISSIBLE_CLONES Terms move_log(RowScores& s, std::size_t begin, std::size_t end, const uint8_t* leaf,
                                             const double* factor, bool coordinate, const double* d) {
        const std::size_t width = s.width_;
        double most_g = 0.0, most_h = 0.0;
        for (std::size_t i = begin; i < end; ++i) {
            double* q = &s.q_[i * width];
            const std::size_t z = s.target_[i];
            double scale = 1.0;
            if (factor) {
                const double* f = factor + leaf[i] * width;
                V4 sums{};
                for (std::size_t k = 0; k < width; k += 4) {
                    const V4 next = Four::load(q + k) * Four::load(f + k);
                    Four::store(q + k, next);
                    sums += next;
                }
                scale = 1.0 / total4(sums);
            }
            const double* c = s.costs_of(i);
            V4 sum{}, first{}, second{};
            for (std::size_t k = 0; k < width; k += 4) {
                const V4 now = larger(Four::load(q + k) * scale, Four::all(kLeast)), a = Four::load(c + k) * now;
                const V4 dk = Four::load(d + k);
                Four::store(q + k, now);
                sum += a;
                first += a * dk;
                second += coordinate ? a * dk * dk : a * a;
            }
            const double n = total4(sum), own = q[z], inverse = 1.0 / (n + own), weight = s.weight_of(i);
            const double slope = (d[z] * n - total4(first)) * inverse;
            s.value_[i] = n / own;
            double bend = 0.0;
            if (coordinate) {
                const double around = total4(second) - 2.0 * d[z] * total4(first) + d[z] * d[z] * n;
                bend = std::max(around * inverse - slope * slope, 0.0);
                s.slope_[i] = slope * weight, s.bend_[i] = bend * weight;
                most_g = std::max(most_g, std::fabs(s.slope_[i])), most_h = std::max(most_h, s.bend_[i]);
            } else {
                bend = n * inverse - total4(second) * inverse * inverse + (own * inverse) * (n * inverse);
                s.slope_[i] = inverse;
            }
            s.gradient_[i] = static_cast<float>(slope * weight);
            s.curvature_[i] = static_cast<float>(std::max(bend, 0.0) * weight);
        }
        if (!coordinate) return {s.largest_weight_, s.largest_weight_};
        return {most_g, most_h};
    }

    /// The sums of the leaves along a coordinate, whose derivatives are kept.
    static void add_kept(const RowScores& s, std::size_t begin, std::size_t end, const uint8_t* leaf, double g_grid,
                         double h_grid, StepSums& sums) {
        for (std::size_t i = begin; i < end; ++i) {
            const int64_t times = s.copies_of(i);
            sums.gradient[leaf[i]] += times * rounded(s.slope_[i] * g_grid);
            sums.curvature[leaf[i]] += times * rounded(s.bend_[i] * h_grid);
        }
    }

    /// u = C_zj q_j / (N + q_z) of each class, and the own class: nothing but these is needed of GLL.
    static PERMISSIBLE_CLONES void add_log(const RowScores& s, std::size_t begin, std::size_t end, const uint8_t* leaf,
                                           double g_grid, double h_grid, StepSums& sums) {
        const std::size_t width = s.width_;
        using Ints = Four::Ints;
        for (std::size_t i = begin; i < end; ++i) {
            const double *q = &s.q_[i * width], *c = s.costs_of(i), weight = s.weight_of(i), inverse = s.slope_[i];
            const std::size_t z = s.target_[i];
            const int64_t times = s.copies_of(i);
            int64_t *to_g = &sums.gradient[leaf[i] * width], *to_h = &sums.curvature[leaf[i] * width];
            const double by_g = weight * g_grid, by_h = weight * h_grid;
            for (std::size_t k = 0; k < width; k += 4) {
                const V4 u = Four::load(c + k) * Four::load(q + k) * inverse;
                const Ints a = rounded(u * by_g), b = rounded((u - u * u) * by_h);
                Ints x, y;
                std::memcpy(&x, to_g + k, sizeof x);
                std::memcpy(&y, to_h + k, sizeof y);
                x -= times == 1 ? a : a * times;
                y += times == 1 ? b : b * times;
                std::memcpy(to_g + k, &x, sizeof x);
                std::memcpy(to_h + k, &y, sizeof y);
            }
            const double p = q[z] * inverse, rest = s.value_[i] * p;
            to_g[z] += times * rounded(rest * by_g);
            to_h[z] += times * rounded(rest * p * by_h);
        }
    }

    static PERMISSIBLE_CLONES void add(const RowScores& s, std::size_t begin, std::size_t end, const uint8_t* leaf,
                                       double g_grid, double h_grid, StepSums& sums, Scratch& scratch) {
        const std::size_t width = s.width_;
        double *g = scratch.g.data(), *h = scratch.h.data();
        for (std::size_t i = begin; i < end; ++i) {
            const double *q = &s.q_[i * width], *c = s.costs_of(i), weight = s.weight_of(i);
            const std::size_t z = s.target_[i];
            const int64_t times = s.copies_of(i);
            derive(q, c, width, s.classes_, z, linear ? s.spread_[i] : 0.0, g, h);
            int64_t *to_g = &sums.gradient[leaf[i] * width], *to_h = &sums.curvature[leaf[i] * width];
            const double by_g = weight * g_grid, by_h = weight * h_grid;
            for (std::size_t k = 0; k < width; k += 4) {
                using Ints = Four::Ints;
                const Ints a = rounded(Four::load(g + k) * by_g), b = rounded(Four::load(h + k) * by_h);
                Ints x, y;
                std::memcpy(&x, to_g + k, sizeof x);
                std::memcpy(&y, to_h + k, sizeof y);
                x += times == 1 ? a : a * times;
                y += times == 1 ? b : b * times;
                std::memcpy(to_g + k, &x, sizeof x);
                std::memcpy(to_h + k, &y, sizeof y);
            }
        }
    }

    static void slopes(const RowScores& s, std::size_t begin, std::size_t end, const uint8_t* leaf, const double* step,
                       std::size_t leaves, double alpha, LineSums& sums) {
        const std::size_t width = s.width_, classes = s.classes_;
        std::vector<double> scaled(leaves * classes), padded(leaves * width), q(width);
        for (std::size_t k = 0; k < scaled.size(); ++k) scaled[k] = alpha * step[k];
        const std::vector<double> factor = s.factors(scaled.data(), leaves);
        for (std::size_t k = 0; k < scaled.size(); ++k) padded[k / classes * width + k % classes] = step[k];
        Scratch scratch(width);
        for (std::size_t i = begin; i < end; ++i) {
            const double *before = &s.q_[i * width], *f = &factor[leaf[i] * width], *c = s.costs_of(i);
            V4 all{};
            for (std::size_t k = 0; k < width; k += 4) {
                const V4 next = Four::load(before + k) * Four::load(f + k);
                Four::store(q.data() + k, next);
                all += next;
            }
            const double sum = total4(all);
            for (std::size_t k = 0; k < width; ++k) q[k] = std::max(q[k] / sum, kLeast);
            const std::size_t z = s.target_[i];
            const double spread = linear ? s.spread_[i] * sum : 0.0;
            derive(q.data(), c, width, classes, z, spread, scratch.g.data(), scratch.h.data());
            const Slopes found = project(q.data(), c, width, classes, z, &padded[leaf[i] * width], scratch.g.data(),
                                         scratch.h.data(), true);
            const double weight = s.weight_of(i);
            sums.first.add(-found.first * weight, s.copies_of(i));
            sums.second.add(found.second * weight, s.copies_of(i));
        }
    }
};

}  // namespace permissible::mcboost
