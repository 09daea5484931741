"""Run as a process of its own: the peaks of resident memory that fits of data sets on disk add, in bytes, one after the other.

Folders and the estimator with its settings as JSON are given; the first fit loads and warms what any fit needs. The high-water
mark is the kernel's own (VmHWM), reset before each fit; `ru_maxrss` will not do, since it begins with the peak of the process
that started this one. Mapped pages stay up to a budget, which is part of the constant: here it is 0, so that only what grows with
the rows is seen.
"""

import json
import pathlib
import sys

import permissible as pm
from permissible.distributed.data import mapped


def kilobytes(name: str) -> int:
    """One line of the kernel's account of this process."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def main() -> None:
    """Fit each data set; print the peak of each fit over what the process held before the second one."""
    estimator, settings, *folders = sys.argv[1:]
    mapped.BUDGET = 0
    model = getattr(pm, estimator)(**json.loads(settings))
    peaks, before = [], 0
    for number, folder in enumerate(folders):
        before = kilobytes("VmRSS") if number == 1 else before
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
        model.fit(pm.BinnedDataset.open(folder))
        peaks.append(1024 * (kilobytes("VmHWM") - before))
    print(json.dumps(peaks[1:]))


if __name__ == "__main__":
    main()
