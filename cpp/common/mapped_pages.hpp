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
    ~MappedPages() { give_back(); }
    /// Whole pages of these bytes may be given back, and those between them and others.
    void include(const std::uint8_t* from, std::size_t bytes) {
        begin_ = std::min(begin_, down(from + kPage - 1, kPage)), end_ = std::max(end_, down(from + bytes, kPage));
    }

    /// `count` places between two addresses were read; a read may bring all of the large page around it.
    void visited(const std::uint8_t* from, const std::uint8_t* to, std::size_t count) {
        const auto low = std::max(down(from, kLarge), begin_), high = std::min(down(to + kLarge - 1, kLarge), end_);
        if (low >= high) return;
        const std::lock_guard<std::mutex> guard(mutex_);
        low_ = std::min(low_, low), high_ = std::max(high_, high);
        if ((bytes_ += std::min<std::size_t>(high - low, count * kLarge)) >= kMost) give_back();
    }

  private:
    static constexpr std::size_t kPage = 4096, kLarge = std::size_t{2} << 20, kMost = 4 * kLarge;
    static std::uintptr_t down(const void* of, std::size_t by) { return reinterpret_cast<uintptr_t>(of) / by * by; }
    void give_back() {
#ifdef __linux__
        if (low_ < high_) madvise(reinterpret_cast<void*>(low_), high_ - low_, MADV_DONTNEED);  // advice: may fail
#endif
        low_ = UINTPTR_MAX, high_ = 0, bytes_ = 0;
    }

    std::mutex mutex_;
    std::uintptr_t begin_ = UINTPTR_MAX, end_ = 0, low_ = UINTPTR_MAX, high_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace permissible
