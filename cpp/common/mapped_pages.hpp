// Pages of a mapped file, which count as memory of the process once they were read, are given back after visits. The
// law: at most about kMost bytes of them stay, whatever the order and the number of visits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace permissible {

class MappedPages {
  public:
    /// Whole pages of these bytes may be given back, and those between them and others.
    void include(const std::uint8_t* from, std::size_t bytes) {
        begin_ = std::min(begin_, round_up(from)), end_ = std::max(end_, round_down(from + bytes));
    }

    /// `count` places between two addresses were read; a read brings the pages around it too.
    void visited(const std::uint8_t* from, const std::uint8_t* to, std::size_t count) {
        const std::uintptr_t low = std::max(round_down(from), begin_), high = std::min(round_up(to), end_);
        if (low >= high) return;
        const std::lock_guard<std::mutex> guard(mutex_);
        low_ = std::min(low_, low), high_ = std::max(high_, high);
        if ((bytes_ += std::min<std::size_t>(high - low, count * 16 * kPage)) < kMost) return;
#ifdef __linux__
        madvise(reinterpret_cast<void*>(low_), high_ - low_, MADV_DONTNEED);  // only advice: failure is no error
#endif
        low_ = UINTPTR_MAX, high_ = 0, bytes_ = 0;
    }

  private:
    static constexpr std::size_t kPage = 4096, kMost = std::size_t{2} << 20;
    static std::uintptr_t round_down(const std::uint8_t* of) {
        return reinterpret_cast<std::uintptr_t>(of) & ~(kPage - 1);
    }
    static std::uintptr_t round_up(const std::uint8_t* of) { return round_down(of + (kPage - 1)); }

    std::mutex mutex_;
    std::uintptr_t begin_ = UINTPTR_MAX, end_ = 0, low_ = UINTPTR_MAX, high_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace permissible
