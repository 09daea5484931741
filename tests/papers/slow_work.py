"""Work for the tests of the engine: takes a moment, leaves a mark each time it is done, depends on the unit alone."""

import sys
import time
import zlib
from pathlib import Path

from papers.engine import execute
from papers.store import Store, unit


def units(count):
    return [unit("slow", "d", "m", fold, {"seed": 3, "marks": str(sys.argv[1])}) for fold in range(count)]


def work(one):
    time.sleep(0.05)
    with (Path(one.options["marks"]) / "marks.txt").open("a") as file:
        file.write(f"{one.fold}\n")
    return {"value": zlib.crc32(f"{one.fold}".encode()) / 2**32}


if __name__ == "__main__":
    folder, jobs = Path(sys.argv[1]), int(sys.argv[2])
    with Store(folder / "r.sqlite") as store:
        for one, payload in execute(units(40), work, store, jobs=jobs).items():
            print(one.fold, payload["value"])
