"""``python -m tests.pinned NAME ...`` keeps the documents of these fits anew (``all`` for all of them)."""

import sys

from tests.pinned.documents import renew
from tests.pinned.fits import FITS

for name in FITS if sys.argv[1:] == ["all"] else sys.argv[1:]:
    renew(name)
    print(name)
