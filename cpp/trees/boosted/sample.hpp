// Which rows a search looks at. Minimal variance sampling: a row is taken with probability min(1, r / mu), where
// r = sqrt(g^2 + h^2 / 10), and counts for 1 / p. The law: whether a row is taken depends on a hash of its content, the
// seed and the round, and mu on integer sums, so that neither order nor parts of the rows show and equal rows stay
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/boosted/codes.hpp"
#include "trees/boosted/growth/grow.hpp"

namespace permissible::boosted {

/// 32 well mixed bits of a seed and a round.
uint32_t round_key(uint64_t seed, uint64_t round);

/// Rows taken by one thread, in their order, with gradients already divided by their probabilities.
struct Taken {
    std::size_t count = 0;  // the arrays are longer, so that they need not grow in every round
    std::vector<uint32_t> rows;
    std::vector<float> gradient, curvature;
    int64_t weight = 0;  // copies counted
    void clear() { count = 0, weight = 0; }
    void grow(std::size_t to) { count = to, grow_to(rows, to), grow_to(gradient, to), grow_to(curvature, to); }
    void append(const Taken& other);
};

struct Draw {
    const float *gradient = nullptr, *curvature = nullptr;  // of all rows
    const int32_t* copies = nullptr;
    const uint32_t* hash = nullptr;
    uint32_t key = 0;
    float mu = 1.0f;
};

/// Appends the taken rows of [begin, end).
void take_rows(const Draw& draw, std::size_t begin, std::size_t end, Taken& taken);

/// The sum of r over rows, on a grid of 2^20 relative to `largest`.
int64_t sum_of_sizes(const Draw& draw, std::size_t begin, std::size_t end, float largest);

/// Gradients and curvatures on the grids on which the sums of all rows just fit 31 bits, packed.
class PackedRows {
  public:
    /// `rows` is null for all rows, in order; `copies` is indexed by row number.
    void pack(const float* gradient, const float* curvature, const uint32_t* rows, const int32_t* copies,
              std::size_t n);
    const int64_t* data() const { return packed_.data(); }
    double gradient_grid() const { return gradient_grid_; }
    double curvature_grid() const { return curvature_grid_; }
    double weight() const { return static_cast<double>(weight_); }

  private:
    std::vector<int64_t> packed_;
    double gradient_grid_ = 1.0, curvature_grid_ = 1.0;
    int64_t weight_ = 0;
};

}  // namespace permissible::boosted
