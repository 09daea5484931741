#!/usr/bin/env bash
# Walks README, quick start and every how-to as a reader would: a clone in a folder with a space, a fresh environment, `make demo`,
# then each page's commands and Python lines with what they print. Usage: walk.sh [FOLDER]; takes some minutes.
set -euo pipefail
source="$(cd "$(dirname "$0")/.." && pwd)"
room="${1:-$(mktemp -d)}/a folder with a space"
mkdir -p "$room"
git -C "$source" archive HEAD | tar -x -C "$room"
cd "$room"
make demo | tee demo.txt
grep -q "refuse everybody .*0.700" demo.txt
test -s permissible-demo.html
.venv/bin/python -m pip install --quiet --disable-pip-version-check pandas pyarrow pytest onnx
for page in README.md docs/quickstart.md docs/how-to/*.md; do
  # Without the conftest files: they need the developers' tools.
  .venv/bin/python -m pytest -q --noconftest -p no:cacheprovider --rootdir . tests/house/test_pages.py -k "$page"
done
echo "README, quick start and how-tos say what happens."
