// Memory for arrays of many megabytes that passes stream through in parallel: on pages of 2 MB if available, which
// avoids most TLB misses of a pass with thirty streams. Smaller arrays use malloc. The heap may keep what is freed, but
// no allocation of more than 32 MB, of which untouched pages take no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace permissible {

template <typename T>
struct LargePages {
    using value_type = T;
    static constexpr std::size_t kPage = std::size_t{2} << 20, kLeast = 2 * kPage, kMapped = 17 * kPage;

    LargePages() = default;
    template <typename Other>
    LargePages(const LargePages<Other>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        void* memory = nullptr;
        if (bytes < kLeast) {
            memory = std::malloc(bytes);
        } else {
            memory = std::aligned_alloc(kPage, std::max(kMapped, (bytes + kPage - 1) / kPage * kPage));
#ifdef __linux__
            if (memory) madvise(memory, bytes / kPage * kPage, MADV_HUGEPAGE);  // only advice: failure is no error
#endif
        }
        if (!memory) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    bool operator==(const LargePages&) const { return true; }
};

template <typename T>
using LargeVector = std::vector<T, LargePages<T>>;

/// Makes an array longer whose length in the end is not known.
template <class Vector>
void extend_to(Vector& values, std::size_t size) {
    if (values.capacity() < size) values.reserve(2 * size);
    if (values.size() < size) values.resize(size);
}

/// Makes an array long enough for this round, and a little more for the next ones.
template <class Vector>
void grow_to(Vector& values, std::size_t size) {
    if (values.size() >= size) return;
    if (values.capacity() < size) values.reserve(size + size / 8);
    values.resize(size);
}

}  // namespace permissible
