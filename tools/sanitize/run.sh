#!/usr/bin/env bash
# Build the core with a sanitizer into build/NAME and run the tests of the kernels on it.
#   tools/sanitize/run.sh PYTHON address|thread [pytest arguments]
set -euo pipefail
python=$1 kind=$2
shift 2
case $kind in
    address) flags=address,undefined library=libasan.so ;;
    thread) flags=thread library=libtsan.so ;;
    *) echo "address or thread, not $kind" >&2; exit 2 ;;
esac
build=build/sanitize-$kind
bin=$(dirname "$python")
PATH="$PWD/$bin:$PATH" cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPERMISSIBLE_SANITIZE="$flags" \
    -DPython_EXECUTABLE="$PWD/$python" > "$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
PATH="$PWD/$bin:$PATH" cmake --build "$build" >> "$build.log" 2>&1 || { tail -50 "$build.log" >&2; exit 1; }
core=$(find "$PWD/$build" -maxdepth 1 -name '_core*.so')

# The interpreter keeps memory until it ends and is not to blame on the core: leaks are watched by tests/faults/test_memory.py.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=suppressions=$PWD/tools/sanitize/thread.supp:halt_on_error=1:report_signal_unsafe=0
export PERMISSIBLE_CORE=$core PYTHONPATH=$PWD/tools/sanitize:$PWD PYTHONHASHSEED=0 PYTHONMALLOC=malloc
# C++ exceptions cross the interpreter: its runtime has to be there before the sanitizer intercepts it.
preload=$(gcc -print-file-name=$library):$(gcc -print-file-name=libstdc++.so.6)
if [ "$kind" = address ]; then preload=$preload:$(gcc -print-file-name=libubsan.so); fi
LD_PRELOAD=$preload exec "$python" -m pytest -p core -p no:cacheprovider -q --capture=sys "$@"  # file descriptor 2 is the sanitizer's
