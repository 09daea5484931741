#!/usr/bin/env bash
# Says in one sentence what is missing before anything is installed: Python 3.11 and a C++ compiler.
python="$1"
if ! command -v "$python" >/dev/null 2>&1; then
  echo "permissible needs Python 3.11 or newer, and no '$python' was found: install it, or call make with PYTHON=/path/to/python3." >&2; exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "permissible needs Python 3.11 or newer, and '$python' is $("$python" -V 2>&1): call make with PYTHON=/path/to/a/newer/python3." >&2; exit 1
fi
if ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
  echo "permissible needs Python's venv module, and '$python' has none: install it (Debian: apt install python3-venv)." >&2; exit 1
fi
if ! command -v "${CXX:-c++}" >/dev/null 2>&1; then
  echo "permissible needs a C++20 compiler, and no '${CXX:-c++}' was found: install one (Debian: apt install g++), or set CXX." >&2; exit 1
fi
