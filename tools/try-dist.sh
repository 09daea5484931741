#!/usr/bin/env bash
# Installs the built wheel, then the sdist, each in a clean environment away from the source tree, and fits a model with it.
set -euo pipefail
python="$1"; dist="$(cd "$2" && pwd)"; room="$(mktemp -d)"; trap 'rm -rf "$room"' EXIT
cd "$room"
for package in "$dist"/*.whl "$dist"/*.tar.gz; do
  "$python" -m venv clean
  clean/bin/python -m pip install --quiet --disable-pip-version-check "$package"
  clean/bin/python - <<'PY'
import pathlib
import permissible as pm
from permissible.kernels import _core

assert "site-packages" in pathlib.Path(pm.__file__).as_posix(), pm.__file__
assert pm.losses.get("logistic").value(0.0) == 1.0
print(f"permissible {pm.__version__} installs and imports from {pathlib.Path(_core.__file__).name}")
PY
  clean/bin/permissible --version
  rm -rf clean
done
