"""Numbers that a part on disk keeps between questions in a file of its own, so that they take no memory."""

import os
import tempfile
import weakref
from pathlib import Path

import numpy as np

from permissible.types import FloatArray


class Spill:
    """One array in a file beside the data where one may be made, else in the system's temporary folder; it goes with it."""

    def __init__(self, folder: Path) -> None:
        where = folder if os.access(folder, os.W_OK) else None
        handle, name = tempfile.mkstemp(".spill", "state-", where)
        os.close(handle)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)

    def write(self, values: FloatArray) -> None:
        """Replace what is kept."""
        values.tofile(self.path)

    def read(self) -> FloatArray:
        """What is kept, flat; nothing before the first `write`."""
        return np.fromfile(self.path, np.float64)
