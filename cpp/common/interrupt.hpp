// Ctrl-C inside a long kernel: ask Python at most twice a second whether a signal waits.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace permissible::boundary {

class Interrupt {
  public:
    void poll() {
        auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(500)) return;
        last_ = now;
        nanobind::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace permissible::boundary
