// See splits.hpp.
#include "mcboost/splits.hpp"

#include <numeric>

namespace permissible::mcboost {

std::vector<int> chosen_columns(int columns, double share, uint64_t seed) {
    std::vector<int> chosen(columns);
    std::iota(chosen.begin(), chosen.end(), 0);
    if (share >= 1.0) return chosen;
    const auto kept = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * columns)));
    std::sort(chosen.begin(), chosen.end(), [&](int a, int b) {
        const uint64_t ka = mixed(seed ^ mixed(a + 1)), kb = mixed(seed ^ mixed(b + 1));
        return ka != kb ? ka < kb : a < b;
    });
    chosen.resize(std::min(kept, chosen.size()));
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

RandomTest random_test(bool categorical, int low, int high, bool has_missing, uint64_t seed) {
    RandomTest test;
    if (categorical) {
        test.exists = true;
        for (int c = 0; c < 256; ++c)
            if (mixed(seed ^ mixed(c)) & 1) insert(test.mask, c);
        return test;
    }
    if (high < 0 || (low == high && !has_missing)) return test;
    test.exists = true;
    test.code = low == high ? high : low + static_cast<int>(mixed(seed) % static_cast<uint64_t>(high - low));
    test.mask = prefix_mask(test.code, has_missing && low != high && (mixed(seed ^ 77) & 1));
    return test;
}

}  // namespace permissible::mcboost
