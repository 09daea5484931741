// The sample that a search looks at (RowDraw in packed.hpp), drawn as that of boosted trees.
#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"
#include "histogram/packed.hpp"
#include "trees/boosted/sample.hpp"

namespace permissible::rules {

PERMISSIBLE_CLONES
static void scale_floats(float* values, std::size_t n, double scale) {
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(static_cast<double>(values[i]) * scale);
}

void ArrayWeights::floats(std::size_t begin, std::size_t n, float* weight, float* bend) const {
    std::copy_n(signed_weight + begin, n, weight);
    if (curvature != nullptr) {
        std::copy_n(curvature + begin, n, bend);
    } else {
        std::fill_n(bend, n, 0.0f);
    }
}

std::size_t WeightSource::take(std::size_t begin, std::size_t n, int64_t* values, uint32_t* rows) const {
    thread_local boosted::Taken taken;
    float weight[kRunRows], bend[kRunRows];
    floats(begin, n, weight, bend);
    // Squares are taken of numbers scaled by the power of two that brings the threshold to [1/2, 1).
    int exponent = 0;
    const auto threshold = static_cast<float>(std::frexp(draw.threshold, &exponent));
    const double scale = std::ldexp(1.0, -exponent);
    scale_floats(weight, n, scale);
    scale_floats(bend, n, scale);
    taken.clear();
    boosted::take_rows({weight, bend, nullptr, draw.hash + begin, boosted::round_key(draw.seed, 0), threshold}, 0, n,
                       taken);
    const float *g = taken.gradient.data(), *h = taken.curvature.data();
    ArrayWeights found;
    found.signed_weight = g, found.curvature = pair() ? h : nullptr;
    found.weight_grid = weight_grid / scale, found.curvature_grid = curvature_grid / scale;
    found.pack(0, taken.count, values);
    for (std::size_t i = 0; i < taken.count; ++i) {
        rows[i] = taken.rows[i] + static_cast<uint32_t>(begin);
        if (copies != nullptr) values[i] *= static_cast<int64_t>(copies[rows[i]]);
    }
    return taken.count;
}

}  // namespace permissible::rules
