"""A protocol for the test of interruption, run through the same door as the real ones: forty units, a table of their values."""

import sys
import time
import zlib

from papers import reproduce
from papers.pages import Chapter, Table
from papers.store import unit


def plan(scope):
    return [unit("slow", f"set {n}", method, 0, {"seed": scope.seed}) for n in range(20) for method in ("a", "b")], {}


def work(one):
    time.sleep(0.05)
    return {"error": zlib.crc32(f"{one.dataset}{one.method}{one.options['seed']}".encode()) / 2**32}


def chapter(results, scope, missing):
    rows = [[one.dataset, one.method, payload["error"]] for one, payload in results.items()]
    return Chapter(
        "slow", "Slow", ("N",), [Table("errors", "Errors", ["data set", "method", "error"], rows)], {"seed": scope.seed}
    )


if __name__ == "__main__":
    reproduce.PROTOCOLS += ("slow",)
    sys.modules["papers.protocols.slow"] = sys.modules["__main__"]
    reproduce.run("slow", output=sys.argv[1], jobs=1, seed=int(sys.argv[2]))
