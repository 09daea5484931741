// The vector loops behind blocks.hpp: four-lane sums in a fixed order, AVX2 where the machine has it.
#include "boundary/blocks.hpp"

#include <cmath>
#include <cstring>

#include "common/parallel.hpp"

namespace permissible::boundary {

namespace {

typedef double Lane __attribute__((vector_size(32)));
typedef float HalfLane __attribute__((vector_size(16)));

#define PERMISSIBLE_INLINE inline __attribute__((always_inline))

PERMISSIBLE_INLINE void load(const double* p, Lane& out) { std::memcpy(&out, p, sizeof(Lane)); }
PERMISSIBLE_INLINE void load(const float* p, Lane& out) {
    HalfLane half;
    std::memcpy(&half, p, sizeof(HalfLane));
    out = __builtin_convertvector(half, Lane);
}
PERMISSIBLE_INLINE void store(const Lane& v, double* p) { std::memcpy(p, &v, sizeof(Lane)); }
PERMISSIBLE_INLINE double fold(const Lane& v) { return (v[0] + v[1]) + (v[2] + v[3]); }

template <typename T>
PERMISSIBLE_INLINE double dot_body(const T* x, const double* w, std::size_t d) {
    Lane s0 = {0, 0, 0, 0}, s1 = s0, s2 = s0, s3 = s0, a, b;
    std::size_t j = 0;
    for (; j + 16 <= d; j += 16) {
        load(x + j, a), load(w + j, b), s0 += a * b;
        load(x + j + 4, a), load(w + j + 4, b), s1 += a * b;
        load(x + j + 8, a), load(w + j + 8, b), s2 += a * b;
        load(x + j + 12, a), load(w + j + 12, b), s3 += a * b;
    }
    for (; j + 4 <= d; j += 4) load(x + j, a), load(w + j, b), s0 += a * b;
    double tail = 0;
    for (; j < d; ++j) tail += static_cast<double>(x[j]) * w[j];
    s0 += s1, s2 += s3, s0 += s2;
    return fold(s0) + tail;
}

template <typename T>
PERMISSIBLE_INLINE void axpy_body(double a, const T* x, double* out, std::size_t d) {
    for (std::size_t j = 0; j < d; ++j) out[j] += a * static_cast<double>(x[j]);
}

template <typename T>
PERMISSIBLE_INLINE void margins_body(const T* x, const int64_t* index, std::size_t m, std::size_t d, const double* w,
                                     double b, double sign, double* out) {
    if (index != nullptr)
        for (std::size_t r = 0; r < m; ++r) out[r] = sign * (dot_body(x + index[r] * d, w, d) + b);
    else
        for (std::size_t r = 0; r < m; ++r) out[r] = sign * (dot_body(x + r * d, w, d) + b);
}

PERMISSIBLE_INLINE double unit(double v) {
    v = v < 0.0 ? 0.0 : v;
    return v > 1.0 ? 1.0 : v;
}

}  // namespace

PERMISSIBLE_CLONES double dot(const double* x, const double* w, std::size_t d) { return dot_body(x, w, d); }
PERMISSIBLE_CLONES double dot(const float* x, const double* w, std::size_t d) { return dot_body(x, w, d); }
PERMISSIBLE_CLONES void axpy(double a, const double* x, double* out, std::size_t d) { axpy_body(a, x, out, d); }
PERMISSIBLE_CLONES void axpy(double a, const float* x, double* out, std::size_t d) { axpy_body(a, x, out, d); }

PERMISSIBLE_CLONES void margins(const double* x, const int64_t* index, std::size_t m, std::size_t d, const double* w,
                                double b, double sign, double* out) {
    margins_body(x, index, m, d, w, b, sign, out);
}
PERMISSIBLE_CLONES void margins(const float* x, const int64_t* index, std::size_t m, std::size_t d, const double* w,
                                double b, double sign, double* out) {
    margins_body(x, index, m, d, w, b, sign, out);
}

PERMISSIBLE_CLONES void respond(const Segments& loss, std::size_t m, const double* __restrict z,
                                const double* __restrict u, double step, const double* __restrict center,
                                std::size_t stride, double inverse_width, double* __restrict t,
                                double* __restrict curvature) {
    double moved[kChunk];
    for (std::size_t i = 0; i < m; ++i) t[i] = 0;
    if (curvature != nullptr)
        for (std::size_t i = 0; i < m; ++i) curvature[i] = 0;
    if (u != nullptr) {
        for (std::size_t i = 0; i < m; ++i) moved[i] = z[i] + step * u[i];
        z = moved;
    }
    for (int k = 0; k < loss.count; ++k) {
        const double h = loss.hinge[k], width = loss.width[k], bend = width * inverse_width;
        const double* middle = center == nullptr ? nullptr : center + static_cast<std::size_t>(k) * stride;
        if (curvature == nullptr) {
            if (middle == nullptr)
                for (std::size_t i = 0; i < m; ++i) t[i] += width * unit(0.5 + (h - z[i]) * inverse_width);
            else
                for (std::size_t i = 0; i < m; ++i) t[i] += width * unit(middle[i] + (h - z[i]) * inverse_width);
        } else {
            for (std::size_t i = 0; i < m; ++i) {
                double raw = (middle == nullptr ? 0.5 : middle[i]) + (h - z[i]) * inverse_width;
                double tau = unit(raw);
                t[i] += width * tau;
                curvature[i] += raw == tau ? bend : 0.0;
            }
        }
    }
}

PERMISSIBLE_CLONES void recenter(const Segments& loss, std::size_t m, const double* __restrict z,
                                 double* __restrict center, std::size_t stride, double inverse_width) {
    for (int k = 0; k < loss.count; ++k) {
        double* middle = center + static_cast<std::size_t>(k) * stride;
        for (std::size_t i = 0; i < m; ++i) middle[i] = unit(middle[i] + (loss.hinge[k] - z[i]) * inverse_width);
    }
}

PERMISSIBLE_CLONES void fenchel(const Segments& loss, std::size_t m, const double* __restrict z,
                                const double* __restrict t, double* __restrict gap, double* __restrict value) {
    for (std::size_t i = 0; i < m; ++i) value[i] = 0, gap[i] = t[i] * z[i];
    double before = 0;
    for (int k = 0; k < loss.count; ++k) {
        const double h = loss.hinge[k], width = loss.width[k];
        for (std::size_t i = 0; i < m; ++i) {
            double over = h - z[i];
            over = over < 0.0 ? 0.0 : over;
            double part = t[i] - before;
            part = part < 0.0 ? 0.0 : part;
            part = part > width ? width : part;
            value[i] += width * over;
            gap[i] -= h * part;
        }
        before += width;
    }
    for (std::size_t i = 0; i < m; ++i) gap[i] += value[i];
}

PERMISSIBLE_CLONES double weighted_sum(const double* c, const double* v, std::size_t m) { return dot_body(c, v, m); }

PERMISSIBLE_CLONES double weighted_sum(const double* c, const double* v, const double* u, std::size_t m) {
    Lane s0 = {0, 0, 0, 0}, s1 = s0, a, b, e;
    std::size_t j = 0;
    for (; j + 8 <= m; j += 8) {
        load(c + j, a), load(v + j, b), load(u + j, e), s0 += (a * b) * e;
        load(c + j + 4, a), load(v + j + 4, b), load(u + j + 4, e), s1 += (a * b) * e;
    }
    double tail = 0;
    for (; j < m; ++j) tail += (c[j] * v[j]) * u[j];
    s0 += s1;
    return fold(s0) + tail;
}

PERMISSIBLE_CLONES void rank_update(const double* tile, std::size_t rows, std::size_t stride, std::size_t first,
                                    double sign, double* H) {
    for (std::size_t i = first / 4 * 4; i < stride; i += 4) {
        for (std::size_t j = i / 8 * 8; j < stride; j += 8) {
            Lane acc[4][2] = {};
            const double* row = tile;
            for (std::size_t r = 0; r < rows; ++r, row += stride) {
                Lane left, right;
                load(row + j, left), load(row + j + 4, right);
                for (int a = 0; a < 4; ++a) {
                    const double s = row[i + a];
                    const Lane spread = {s, s, s, s};
                    acc[a][0] += spread * left;
                    acc[a][1] += spread * right;
                }
            }
            for (int a = 0; a < 4; ++a) {
                double* out = H + (i + a) * stride + j;
                Lane left, right;
                load(out, left), load(out + 4, right);
                left += sign * acc[a][0], right += sign * acc[a][1];
                store(left, out), store(right, out + 4);
            }
        }
    }
}

}  // namespace permissible::boundary
