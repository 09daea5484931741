// See codes.hpp.
#include "trees/boosted/codes.hpp"

#include <array>
#include <bit>

#ifdef __SSE2__
#include <immintrin.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__) && (defined(__AVX2__) || !defined(PERMISSIBLE_ONE_VERSION))
#define PERMISSIBLE_AVX2_TRANSPOSE
#endif

namespace permissible::boosted {

namespace {

#ifdef PERMISSIBLE_AVX2_TRANSPOSE
/// 32 rows of eight codes to eight columns of 32: four rounds of interleaving halves make each register one column.
__attribute__((target("avx2"))) void transpose32(const uint64_t* from, uint8_t* const* to) {
    __m256i a[8], b[8];
    const auto* rows = reinterpret_cast<const __m128i*>(from);
    for (int i = 0; i < 8; ++i)
        a[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(rows + i)), _mm_loadu_si128(rows + 8 + i),
                                       1);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 4; ++i) {
            b[2 * i] = _mm256_unpacklo_epi8(a[i], a[i + 4]);
            b[2 * i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 4]);
        }
        for (int i = 0; i < 8; ++i) a[i] = b[i];
    }
    for (int k = 0; k < 8; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[k]), a[k]);
}
#endif

/// Eight columns, `stride` bytes apart, to rows of eight.
void interleave(const uint8_t* columns, std::size_t stride, std::size_t begin, std::size_t end, uint64_t* to) {
    for (std::size_t i = begin; i < end; ++i) {
        uint64_t row = 0;
        for (int lane = 0; lane < 8; ++lane) row |= static_cast<uint64_t>(columns[lane * stride + i]) << (8 * lane);
        to[i] = row;
    }
}

constexpr std::size_t kAhead = 1024, kAheadChosen = 64;  // rows are asked for so early: streams end with each page

/// The places of the bits of each byte that are set.
constexpr auto kPlaces = [] {
    std::array<std::array<uint32_t, 8>, 256> places{};
    for (std::size_t byte = 0; byte < 256; ++byte)
        for (uint32_t bit = 0, count = 0; bit < 8; ++bit)
            if (byte >> bit & 1) places[byte][count++] = bit;
    return places;
}();

/// Writes the places of the bits that are set, from `first` on, and up to eight numbers beyond them; returns how many.
/// Few bits are taken one by one, always as many, since a loop of unknown length costs more.
inline __attribute__((always_inline)) std::size_t write_places(uint64_t bits, uint32_t first, uint32_t* to) {
    const auto count = static_cast<std::size_t>(std::popcount(bits));
    if (count <= 4) {
        for (int k = 0; k < 4; ++k, bits &= bits - 1)
            to[k] = first + static_cast<uint32_t>(__builtin_ctzll(bits | uint64_t{1} << 63));
        return count;
    }
    for (uint32_t shift = 0; shift < 64; shift += 8) {
        const uint64_t byte = bits >> shift & 255;
        for (int k = 0; k < 8; ++k) to[k] = kPlaces[byte][k] + (first + shift);
        to += std::popcount(byte);
    }
    return count;
}

/// The bits of the 64 bytes that are as wanted.
inline __attribute__((always_inline)) uint64_t equal_bytes(const uint8_t* bytes, uint8_t wanted) {
    uint64_t bits = 0;
#ifdef __SSE2__
    const __m128i want = _mm_set1_epi8(static_cast<char>(wanted));
    for (int quarter = 0; quarter < 4; ++quarter) {
        const __m128i own = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + quarter);
        const auto found = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(own, want)));
        bits |= static_cast<uint64_t>(found) << (16 * quarter);
    }
#else
    for (int k = 0; k < 64; ++k) bits |= static_cast<uint64_t>(bytes[k] == wanted) << k;
#endif
    return bits;
}

uint32_t mixed(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>((x ^ (x >> 31)) >> 32);
}

}  // namespace

PERMISSIBLE_WIDE_CLONES
std::size_t find_bytes(const uint8_t* bytes, std::size_t begin, std::size_t end, uint8_t wanted, uint32_t* found) {
    std::size_t count = 0, i = begin;
    for (; i + 64 <= end; i += 64)
        count += write_places(equal_bytes(bytes + i, wanted), static_cast<uint32_t>(i), found + count);
    for (; i < end; ++i) {
        found[count] = static_cast<uint32_t>(i);
        count += bytes[i] == wanted;
    }
    return count;
}

std::vector<uint32_t> Codes::hashes(const uint64_t* numbers, int threads) const {
    std::vector<uint32_t> table(256 * columns_), found(rows_, 0);
    for (std::size_t j = 0; j < columns_; ++j)
        for (uint64_t code = 0; code < 256 && numbers[j] != 0; ++code)
            table[256 * j + code] = mixed(numbers[j] + code * 0x9e3779b97f4a7c15u);
    over_rows(rows_, threads, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t b = 0; b < n_blocks(); ++b) {
            const uint32_t* of_block = table.data() + 2048 * b;
            const uint64_t* codes = block(b);
            for (std::size_t i = begin; i < end; ++i)
                for (int lane = 0; lane < lanes(b); ++lane)
                    found[i] += of_block[256 * lane + ((codes[i] >> (8 * lane)) & 255)];
        }
    });
    return found;
}

PERMISSIBLE_WIDE_CLONES
static uint8_t largest_shifted(const uint8_t* code, std::size_t n, uint8_t shift) {
    uint8_t most = 0;
    for (std::size_t i = 0; i < n; ++i) most = std::max(most, static_cast<uint8_t>(code[i] + shift));
    return most;
}

bool Codes::fit(const std::vector<Column>& known) const {
    ChunkView view(*this);
    for (std::size_t at = 0; at < rows_; at += kChunk) {
        const std::size_t n = std::min(kChunk, rows_ - at);
        view.move(at, at + n);
        for (std::size_t j = 0; j < columns_; ++j) {
            // The codes of missing values (and rare categories) wrap around to the smallest.
            const uint8_t shift = known[j].categorical ? 2 : 1;
            const int most = std::max(known[j].bins - 1 + shift, known[j].categorical ? 1 : 0);
            if (largest_shifted(view.column(j), n, shift) > most) return false;
        }
    }
    return true;
}

Codes::Codes(const uint8_t* blocks, std::size_t rows, std::size_t columns, int threads, bool by_column,
             std::size_t room)
    : blocks_(blocks), rows_(rows), columns_(columns), stride_((rows + 63) / 64 * 64), room_(std::max(room, rows)) {
    if (!by_column) return;
    by_column_.resize(n_blocks() * 8 * stride_);
    over_rows(rows_, threads, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t b = 0; b < n_blocks(); ++b) keep(b, begin, end);
    });
}

Codes::Codes(const Codes& from, const std::vector<std::vector<int>>& bundles, int threads)
    : rows_(from.rows_), stride_(from.stride_), room_(from.rows_) {
    std::vector<uint8_t> bundled(from.columns_, 0);
    for (const auto& bundle : bundles)
        for (const int j : bundle) bundled[j] = 1;
    std::vector<std::size_t> alone;
    for (std::size_t j = 0; j < from.columns_; ++j)
        if (!bundled[j]) alone.push_back(j);
    columns_ = alone.size() + bundles.size();
    by_column_.resize(n_blocks() * 8 * stride_);
    own_.resize(n_blocks() * 8 * rows_);
    blocks_ = own_.data();
    over_rows(rows_, threads, [&](int, std::size_t begin, std::size_t end) {
        ChunkView view(from);
        for (std::size_t at = begin; at < end; at += kChunk) {
            const std::size_t n = std::min(kChunk, end - at);
            view.move(at, at + n);
            for (std::size_t k = 0; k < alone.size(); ++k)
                std::copy_n(view.column(alone[k]), n, &by_column_[k * stride_ + at]);
            for (std::size_t k = 0; k < bundles.size(); ++k) {
                uint8_t* to = &by_column_[(alone.size() + k) * stride_ + at];
                for (std::size_t place = 0; place < bundles[k].size(); ++place) {
                    const uint8_t* ones = view.column(bundles[k][place]);
                    const auto code = static_cast<uint8_t>(place + 1);
                    for (std::size_t i = 0; i < n; ++i) to[i] = ones[i] ? code : to[i];
                }
            }
        }
        for (std::size_t b = 0; b < n_blocks(); ++b)
            interleave(column(8 * b), stride_, begin, end, reinterpret_cast<uint64_t*>(own_.data()) + b * rows_);
    });
}

void Codes::gather(const Codes& from, const uint32_t* chosen, std::size_t count, int threads) {
    rows_ = room_ = count, columns_ = from.columns_, stride_ = (count + 63) / 64 * 64;
    grow_to(own_, n_blocks() * 8 * count);
    grow_to(by_column_, n_blocks() * 8 * stride_);
    blocks_ = own_.data();
    over_rows(count, threads, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end; first += kChunk) {
            const std::size_t last = std::min(end, first + kChunk);
            for (std::size_t b = 0; b < n_blocks(); ++b) {
                const uint64_t* source = from.block(b);
                auto* to = reinterpret_cast<uint64_t*>(own_.data()) + b * rows_;
                for (std::size_t i = first; i < last; ++i) {
                    __builtin_prefetch(source + chosen[std::min(i + kAheadChosen, count - 1)]);
                    to[i] = source[chosen[i]];
                }
                keep(b, first, last);
            }
        }
    });
}

void Codes::transpose(std::size_t block, std::size_t begin, std::size_t end, uint8_t* first, std::size_t stride) const {
    const uint64_t* from = this->block(block);
    uint8_t* to[8];
    for (std::size_t k = 0; k < 8; ++k) to[k] = first + k * stride;
    std::size_t i = begin;
#ifdef PERMISSIBLE_AVX2_TRANSPOSE
    static const bool has_avx2 = __builtin_cpu_supports("avx2");
    for (; has_avx2 && i + 32 <= end; i += 32) {
        for (int line = 0; line < 4; ++line) __builtin_prefetch(from + i + kAhead + 8 * line);
        transpose32(from + i, to);
        for (auto& place : to) place += 32;
    }
#endif
    for (; i < end; ++i)
        for (int k = 0; k < 8; ++k) *to[k]++ = static_cast<uint8_t>(from[i] >> (8 * k));
}

}  // namespace permissible::boosted
