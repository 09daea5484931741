// Ctrl-C inside a long kernel: Python is polled regularly for a pending signal.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace permissible {

class Interrupt {
  public:
    explicit Interrupt(std::chrono::milliseconds interval = std::chrono::milliseconds(100)) : interval_(interval) {}

    /// Whether the interval has passed; if so, the next one begins.
    bool due() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < interval_) return false;
        last_ = now;
        return true;
    }
    /// Throws the exception that a pending signal raises in Python. The caller does not hold the GIL.
    void poll() {
        if (!due()) return;
        nanobind::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

  private:
    std::chrono::milliseconds interval_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace permissible
