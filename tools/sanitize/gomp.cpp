// What the thread sanitizer cannot see: libgomp is not built with it, so the order that its regions, barriers and locks create
// is told here. The linker sends each call of the core to __wrap_X (-Wl,--wrap=X); nothing of this is in an ordinary build.
#include <cstdlib>

extern "C" {
void __tsan_acquire(void *);
void __tsan_release(void *);

using Body = void (*)(void *);
void __real_GOMP_parallel(Body, void *, unsigned, unsigned);
void __real_GOMP_barrier();
void __real_GOMP_loop_end();
void __real_GOMP_critical_start();
void __real_GOMP_critical_end();
void __real_GOMP_critical_name_start(void **);
void __real_GOMP_critical_name_end(void **);

static char barrier_tag, critical_tag;

namespace {
struct Region {
    Body body;
    void *data;
    char entered, left;
};

void run(void *given) {
    Region *region = static_cast<Region *>(given);
    __tsan_acquire(&region->entered);
    region->body(region->data);
    __tsan_release(&region->left);
}
}  // namespace

// All threads see what was written before the region, and the one that opened it sees after it what they wrote.
void __wrap_GOMP_parallel(Body body, void *data, unsigned threads, unsigned flags) {
    Region *region = static_cast<Region *>(std::malloc(sizeof(Region)));
    region->body = body;
    region->data = data;
    __tsan_release(&region->entered);
    __real_GOMP_parallel(run, region, threads, flags);
    __tsan_acquire(&region->left);
    std::free(region);
}

void __wrap_GOMP_barrier() {
    __tsan_release(&barrier_tag);
    __real_GOMP_barrier();
    __tsan_acquire(&barrier_tag);
}

void __wrap_GOMP_loop_end() {  // the barrier at the end of a worksharing loop
    __tsan_release(&barrier_tag);
    __real_GOMP_loop_end();
    __tsan_acquire(&barrier_tag);
}

void __wrap_GOMP_critical_start() {
    __real_GOMP_critical_start();
    __tsan_acquire(&critical_tag);
}

void __wrap_GOMP_critical_end() {
    __tsan_release(&critical_tag);
    __real_GOMP_critical_end();
}

void __wrap_GOMP_critical_name_start(void **name) {
    __real_GOMP_critical_name_start(name);
    __tsan_acquire(name);
}

void __wrap_GOMP_critical_name_end(void **name) {
    __tsan_release(name);
    __real_GOMP_critical_name_end(name);
}
}
