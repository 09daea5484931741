// Rows of a kernel matrix: k(x_i, x_j) for all j, in single precision for the search and in double precision for the
// certificate.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "boundary/kernel/blocks.hpp"

namespace permissible::boundary {

enum class KernelKind : int { linear = 0, rbf = 1, poly = 2, sigmoid = 3 };

struct KernelSpec {
    KernelKind kind = KernelKind::rbf;
    double gamma = 1, coef0 = 0;
    int degree = 3;
    double shift = 0;  // added to every entry: 1 for a penalised intercept
};

template <typename T>
class KernelRows {
  public:
    KernelRows(const KernelSpec& spec, const double* x, std::size_t n, std::size_t d);
    std::size_t size() const { return n_; }
    /// out[j] = k(x_i, x_j), j = 0 .. n-1.
    void row(std::size_t i, T* out) const { row(x_ + i * d_, square_[i], out); }
    void row(const double* point, double square, T* out) const;
    T diagonal(std::size_t i) const;
    /// out[j] += sum_a coef[a] k(x_{rows[a]}, x_j) for four rows at a time: each point is read once for all four.
    void add_four(const std::size_t* rows, const double* coef, double* out) const
        requires(std::is_same_v<T, double>);

  private:
    KernelSpec spec_;
    const double* x_;
    std::size_t n_, d_;
    std::vector<T> columns_;       // block by block, each d x kKernelBlock
    std::vector<double> square_;   // |x_i|^2
    std::vector<T> half_squares_;  // the same in T, padded
};

extern template class KernelRows<float>;
extern template class KernelRows<double>;

/// A cache of the most recently used rows, within a memory budget that is allocated as needed.
template <typename T>
class RowCache {
  public:
    RowCache(std::size_t n, std::size_t bytes) : n_(n), capacity_(bytes / (n * sizeof(T) + 1)), place_(n) {
        if (capacity_ < 4) capacity_ = 4;
        for (auto& place : place_) place = order_.end();
    }
    /// The row i, computed by `fill` if it is not cached. The row `pinned` is never evicted.
    template <typename Fill>
    const T* get(std::size_t i, std::size_t pinned, Fill fill) {
        if (place_[i] != order_.end()) {
            order_.splice(order_.begin(), order_, place_[i]);
            return order_.front().values;
        }
        if (order_.size() < capacity_) {
            order_.push_front({i, fresh_row()});
        } else {
            auto oldest = std::prev(order_.end());
            if (oldest->row == pinned) --oldest;
            place_[oldest->row] = order_.end();
            oldest->row = i;
            order_.splice(order_.begin(), order_, oldest);
        }
        place_[i] = order_.begin();
        fill(i, order_.front().values);
        return order_.front().values;
    }

  private:
    struct Entry {
        std::size_t row;
        T* values;
    };
    struct Release {
        void operator()(T* slab) const { std::free(slab); }
    };
    static constexpr std::size_t kSlab = std::size_t{1}
                                         << 22;  // bytes; on huge pages, for fewer faults and translations

    T* fresh_row() {
        const std::size_t stride = (n_ + 15) / 16 * 16, bytes = stride * sizeof(T);
        if (left_ == 0) {
            left_ = std::min(capacity_ - order_.size(), std::max<std::size_t>(1, kSlab / bytes));
            const std::size_t size = (left_ * bytes + (kSlab / 2 - 1)) / (kSlab / 2) * (kSlab / 2);
            T* slab = static_cast<T*>(std::aligned_alloc(kSlab / 2, size));
            if (slab == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
            madvise(slab, size, MADV_HUGEPAGE);
#endif
            slabs_.emplace_back(slab);
        }
        return slabs_.back().get() + --left_ * stride;
    }

    std::size_t n_, capacity_, left_ = 0;
    std::vector<std::unique_ptr<T, Release>> slabs_;
    std::list<Entry> order_;
    std::vector<typename std::list<Entry>::iterator> place_;
};

}  // namespace permissible::boundary
