#!/usr/bin/env bash
# Installs each built wheel with every given Python that it is for, then the sdist with the first, each in a clean environment away
# from the source tree, and fits a model. Usage: try-dist.sh DIST PYTHON...
set -euo pipefail
dist="$(cd "$1" && pwd)"; shift; room="$(mktemp -d)"; trap 'rm -rf "$room"' EXIT
cd "$room"
try() {
  "$1" -m venv clean
  if ! clean/bin/python -m pip install --quiet --disable-pip-version-check "$2" 2> refused; then
    grep -q "not a supported wheel" refused && { rm -rf clean; return; }
    cat refused >&2; exit 1
  fi
  clean/bin/python - <<'PY'
import pathlib
import sys
import permissible as pm
from permissible.kernels import _core

assert "site-packages" in pathlib.Path(pm.__file__).as_posix(), pm.__file__
X, y = pm.datasets.german_credit()
assert pm.UDTClassifier(max_leaf_nodes=8).fit(X, y).score(X, y) > 0.7
name = pathlib.Path(_core.__file__).name
print(f"permissible {pm.__version__} installs, imports {name} and fits with Python {sys.version.split()[0]}")
PY
  clean/bin/permissible --version
  rm -rf clean
}
for python in "$@"; do for wheel in "$dist"/*.whl; do try "$python" "$wheel"; done; done
try "$1" "$dist"/*.tar.gz
