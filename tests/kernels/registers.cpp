// Fits of boosted trees in a program of its own, so that one set of registers can be chosen when it is compiled. Prints
// every split and every value with all its bits.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "trees/boosted/bundles.hpp"
#include "trees/boosted/fit.hpp"

using namespace permissible;
using namespace permissible::boosted;

namespace {

constexpr std::size_t kRows = 5003, kColumns = 11;  // neither a multiple of any register

struct Table {
    std::vector<uint8_t> blocks = std::vector<uint8_t>((kColumns + 7) / 8 * 8 * kRows);
    std::vector<uint16_t> target = std::vector<uint16_t>(kRows);
    std::vector<uint32_t> hash = std::vector<uint32_t>(kRows);
};

uint32_t next(uint64_t& state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33);
}

Table table_of(std::size_t classes) {
    Table table;
    uint64_t state = 12345;
    for (std::size_t i = 0; i < kRows; ++i) {
        uint32_t sum = 0;
        for (std::size_t j = 0; j < kColumns; ++j) {
            const uint32_t drawn = next(state);
            uint8_t code = static_cast<uint8_t>(drawn % 40);
            if (j == 3) code = drawn % 9 == 0 ? kMissing : code;
            if (j == 4) code = static_cast<uint8_t>(drawn % 12);
            sum += code == kMissing ? 7 : (j < 5 ? code : 0);
            table.blocks[(j / 8 * kRows + i) * 8 + j % 8] = code;
        }
        table.target[i] = static_cast<uint16_t>((sum + next(state) % 60) / 25 % classes);
        table.hash[i] = next(state);
    }
    return table;
}

void print(const char* loss, std::size_t classes, bool sampled, bool exact) {
    Table table = table_of(classes);
    const Codes codes(table.blocks.data(), kRows, kColumns, 1);
    std::vector<Column> columns(kColumns);
    for (std::size_t j = 0; j < kColumns; ++j) columns[j].bins = 40, columns[j].missing = j == 3;
    columns[4].bins = 12, columns[4].categorical = true;
    FitRows rows;
    rows.codes = &codes;
    rows.labels = {kRows, table.target.data(), nullptr, nullptr};
    const rules::Functor functor{loss, 1.0, nullptr};
    rows.scores = classes == 2                       ? make_binary_scores(functor, rows.labels)
                  : loss[0] == 'l' && loss[3] == 'i' ? make_softmax_scores(rows.labels, classes)
                                                     : make_class_scores(functor, rows.labels, classes);
    rows.hash = table.hash.data();
    FitOptions options;
    options.n_trees = 6, options.tree.max_leaf_nodes = 15, options.track_loss = true;
    options.step.exact = exact, options.column_fraction = 0.8;
    for (std::size_t j = 0; j < kColumns; ++j) options.numbers.push_back(j + 1);
    if (sampled) options.search_rows = 1000.0;
    Part part(rows, nullptr, 1);
    const FitResult found =
        fit(part, facts_of(rows, nullptr), *rows.scores, columns, options, [](int) { return true; });
    std::printf("%s %zu %d %d\n", loss, classes, sampled, exact);
    for (const Split& s : found.splits)
        std::printf("%d %d %d %d %016lx %a\n", s.parent, static_cast<int>(s.test), s.cut, s.column,
                    static_cast<unsigned long>(s.set[0]), s.gain);
    for (const double value : found.values) std::printf("%a ", value);
    for (const double value : found.loss) std::printf("%a ", value);
    std::printf("\n");
}

}  // namespace

int main() {
    for (const char* loss : {"logistic", "matsushita", "squared", "exponential", "logcosh"})
        for (const std::size_t classes : {2, 5})
            for (const bool sampled : {false, true}) print(loss, classes, sampled, false);
    print("logistic", 2, false, true);
}
