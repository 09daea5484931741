#include "binning/scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/mixing.hpp"
#include "common/parallel.hpp"

namespace permissible::binning {

namespace {

constexpr size_t kChunk = 512;

template <typename T>
inline Findings look(const T* value, int64_t stride, size_t n) {
    unsigned missing = 0;
    unsigned infinite = 0;
    const T infinity = std::numeric_limits<T>::infinity();
    for (size_t i = 0; i < n; ++i) {
        const T x = value[static_cast<int64_t>(i) * stride];
        missing |= static_cast<unsigned>(x != x);
        infinite |= static_cast<unsigned>(std::fabs(x) == infinity);
    }
    return {missing != 0, infinite != 0};
}

PERMISSIBLE_CLONES Findings look64(const double* value, int64_t stride, size_t n) {
    return stride == 1 ? look<double>(value, 1, n) : look<double>(value, stride, n);
}

PERMISSIBLE_CLONES Findings look32(const float* value, int64_t stride, size_t n) {
    return stride == 1 ? look<float>(value, 1, n) : look<float>(value, stride, n);
}

Findings look_codes(const ColumnView& column, size_t first, size_t n) {
    Findings found;
    for (size_t i = 0; i < n; ++i) found.missing |= *column.at<int32_t>(first + i) == -1;
    return found;
}

// Round numbers differ in their highest bits only: these are brought down before the multiplication by a number of the
// column's own, so that equal values in different columns have nothing in common.
inline uint64_t scramble(uint64_t bits, uint64_t column_hash) {
    bits = (bits ^ (bits >> 32)) * (column_hash | 1);
    return bits ^ (bits >> 32);
}

constexpr uint64_t kMissingBits = 0x7FF8000000000000u;

// Equal values have equal bits once -0.0 is 0.0 and every NaN the same one; compared as integers, which vectorises
// best.
PERMISSIBLE_CLONES void add_hashes(const uint64_t* value, size_t n, uint64_t column_hash, uint64_t* sum) {
    for (size_t i = 0; i < n; ++i) {
        const auto size = static_cast<int64_t>(value[i] & 0x7FFFFFFFFFFFFFFFu);
        uint64_t bits = size > 0x7FF0000000000000 ? kMissingBits : value[i];
        bits = size == 0 ? 0 : bits;
        sum[i] += scramble(bits, column_hash);
    }
}

void add_column_hashes(const ColumnView& column, uint64_t column_hash, size_t first, size_t n, uint64_t* sum) {
    uint64_t value[kChunk];
    if (column.type == ColumnType::float64) {
        load(column, first, n, value);
    } else {
        float narrow[kChunk];
        load(column, first, n, narrow);
        for (size_t i = 0; i < n; ++i) value[i] = std::bit_cast<uint64_t>(static_cast<double>(narrow[i]));
    }
    add_hashes(value, n, column_hash, sum);
}

void add_category_hashes(const ColumnView& column, const uint64_t* hash, uint64_t column_hash, size_t first, size_t n,
                         uint64_t* sum) {
    for (size_t i = 0; i < n; ++i) {
        const int32_t category = *column.at<int32_t>(first + i);
        sum[i] += scramble(category < 0 ? kMissingBits : hash[category], column_hash);
    }
}

}  // namespace

std::vector<Findings> survey(const std::vector<ColumnView>& columns, int n_threads) {
    std::vector<Findings> all(columns.size());
    const size_t n_rows = columns.empty() ? 0 : columns[0].rows;
    const auto n_chunks = static_cast<int64_t>((n_rows + kChunk - 1) / kChunk);
    [[maybe_unused]] const int threads = resolve_threads(n_threads, n_rows * columns.size());
#pragma omp parallel num_threads(threads)
    {
        std::vector<Findings> mine(columns.size());
#pragma omp for schedule(static)
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
            const size_t first = static_cast<size_t>(chunk) * kChunk;
            const size_t n = std::min(kChunk, n_rows - first);
            for (size_t j = 0; j < columns.size(); ++j) {
                const ColumnView& c = columns[j];
                Findings found;
                if (c.type == ColumnType::float64)
                    found = look64(c.at<double>(first), c.stride, n);
                else if (c.type == ColumnType::float32)
                    found = look32(c.at<float>(first), c.stride, n);
                else
                    found = look_codes(c, first, n);
                mine[j].missing |= found.missing;
                mine[j].infinite |= found.infinite;
            }
        }
#pragma omp critical
        for (size_t j = 0; j < columns.size(); ++j) {
            all[j].missing |= mine[j].missing;
            all[j].infinite |= mine[j].infinite;
        }
    }
    return all;
}

namespace {

// The distinct values of one column in an open-addressing table; NaN marks a free slot.
class FewValues {
  public:
    explicit FewValues(size_t limit) : limit_(limit), places_(kPlaces, std::numeric_limits<double>::quiet_NaN()) {}

    bool complete() const { return count_ <= limit_; }

    void add(const double* value, size_t n) {
        for (size_t i = 0; i < n; ++i) {
            const double x = value[i] + 0.0;  // -0.0 is 0.0
            if (x != x) continue;
            size_t at = (std::bit_cast<uint64_t>(x) * kGolden) >> 54;
            while (places_[at] != x) {
                if (places_[at] != places_[at]) {
                    places_[at] = x;
                    if (++count_ > limit_) return;
                }
                if (places_[at] != x) at = (at + 1) % kPlaces;
            }
        }
    }

    void merge(const FewValues& other) {
        add(other.places_.data(), kPlaces);
        count_ = std::max(count_, other.count_);
    }

    std::vector<double> sorted() const {
        std::vector<double> values;
        for (const double x : places_)
            if (x == x) values.push_back(x);
        std::sort(values.begin(), values.end());
        return values;
    }

  private:
    static constexpr size_t kPlaces = 1024;  // 2^(64 - 54), four times the largest limit
    size_t limit_;
    size_t count_ = 0;
    std::vector<double> places_;
};

void load_rows(const ColumnView& column, const int64_t* rows, size_t first, size_t n, double* value) {
    for (size_t i = first; i < first + n; ++i) *value++ = column.number(rows ? static_cast<size_t>(rows[i]) : i);
}

}  // namespace

std::vector<Distinct> collect_distinct(const std::vector<ColumnView>& columns, const int64_t* rows, size_t n_rows,
                                       size_t limit, int n_threads) {
    std::vector<FewValues> found(columns.size(), FewValues(limit));
    [[maybe_unused]] const int threads = resolve_threads(n_threads, n_rows * columns.size());
#pragma omp parallel num_threads(threads)
    {
        std::vector<FewValues> mine(columns.size(), FewValues(limit));
        double value[kChunk];
#pragma omp for schedule(static)
        for (size_t first = 0; first < n_rows; first += kChunk) {
            const size_t n = std::min(kChunk, n_rows - first);
            for (size_t j = 0; j < columns.size(); ++j) {
                if (!mine[j].complete()) continue;
                load_rows(columns[j], rows, first, n, value);
                mine[j].add(value, n);
            }
        }
#pragma omp critical
        for (size_t j = 0; j < columns.size(); ++j) found[j].merge(mine[j]);
    }
    std::vector<Distinct> result;
    for (const FewValues& few : found) result.push_back({few.sorted(), few.complete()});
    return result;
}

void hash_rows(const std::vector<ColumnView>& columns, const uint64_t* column_hash,
               const std::vector<const uint64_t*>& category_hash, uint64_t seed, uint64_t* hashes, int n_threads) {
    const size_t n_rows = columns.empty() ? 0 : columns[0].rows;
    const auto n_chunks = static_cast<int64_t>((n_rows + kChunk - 1) / kChunk);
    const uint64_t salt = mixed(seed);
    [[maybe_unused]] const int threads = resolve_threads(n_threads, n_rows * columns.size());
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const size_t first = static_cast<size_t>(chunk) * kChunk;
        const size_t n = std::min(kChunk, n_rows - first);
        uint64_t* sum = hashes + first;
        std::fill(sum, sum + n, uint64_t{0});
        for (size_t j = 0; j < columns.size(); ++j) {
            if (columns[j].type == ColumnType::category)
                add_category_hashes(columns[j], category_hash[j], column_hash[j], first, n, sum);
            else
                add_column_hashes(columns[j], column_hash[j], first, n, sum);
        }
        for (size_t i = 0; i < n; ++i) sum[i] = finalise(sum[i] ^ salt);
    }
}

}  // namespace permissible::binning
