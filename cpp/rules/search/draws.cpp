// All cuts of a column at once.
#include "rules/search/draws.hpp"

#include "common/parallel.hpp"

namespace permissible::rules {

PERMISSIBLE_WIDE_CLONES
void draw_cuts(double* decrease, const int* code, int n_cuts, int n_variants, double noise, uint64_t column) {
    double drawn[256];
    for (int i = 0; i < n_cuts; ++i) drawn[i] = draw_of(column, static_cast<uint64_t>(code[i]));
    for (int variant = 0; variant < n_variants; ++variant) {
        double* score = decrease + variant * n_cuts;
        for (int i = 0; i < n_cuts; ++i) score[i] = std::sqrt(2.0 * score[i] / noise) + drawn[i];
    }
}

}  // namespace permissible::rules
