// The different values of a column while they are few. The law: values come in any order and in pieces, so that a
// column of few values is read where it lies and never copied.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace permissible::binning {

// Keys order as the doubles do: flip all bits of negatives, the sign bit of the others.
inline uint64_t key_of(double value) {
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // + 0.0: -0.0 and 0.0 are one value
    return bits ^ ((bits >> 63) ? ~uint64_t{0} : uint64_t{1} << 63);
}

inline double value_of(uint64_t key) {
    return std::bit_cast<double>(key ^ ((key >> 63) ? uint64_t{1} << 63 : ~uint64_t{0}));
}

class FewValues {
  public:
    bool missing() const { return missing_; }
    /// The last two different values that were added; not a number before.
    double latest() const { return latest_; }
    double before() const { return before_; }

    /// False at the first value beyond `limit` different ones; what was added then says nothing.
    bool add(const double* value, std::size_t n, std::size_t limit) {
        for (std::size_t i = 0; i < n; ++i) {
            const double v = value[i];
            if ((v == latest_) | (v == before_)) continue;
            if (v != v) {
                missing_ = true;
                continue;
            }
            before_ = latest_, latest_ = v;
            if (!insert(key_of(v), limit)) return false;
        }
        return true;
    }

    std::vector<double> sorted() const {
        std::vector<uint64_t> keys;
        for (std::size_t at = 0; at < kSlots; ++at)
            if (filled_[at]) keys.push_back(slot_[at]);
        std::sort(keys.begin(), keys.end());
        std::vector<double> values;
        for (const uint64_t key : keys) values.push_back(value_of(key));
        return values;
    }

  private:
    static constexpr std::size_t kSlots = 1024;  // at most a quarter is filled

    bool insert(uint64_t key, std::size_t limit) {
        std::size_t at = (key * 0x9e3779b97f4a7c15u) >> 54;
        while (filled_[at] && slot_[at] != key) at = (at + 1) % kSlots;
        if (filled_[at]) return true;
        if (++count_ > limit) return false;
        filled_[at] = true, slot_[at] = key;
        return true;
    }

    std::array<uint64_t, kSlots> slot_;
    std::array<bool, kSlots> filled_{};
    std::size_t count_ = 0;
    double latest_ = std::numeric_limits<double>::quiet_NaN(), before_ = latest_;
    bool missing_ = false;
};

}  // namespace permissible::binning
