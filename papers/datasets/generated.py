"""Data sets that are a rule: monks, parity, xd6, balloons, LED displays and waveforms, made here from their published laws.

The noise-free ones list every combination of their attributes once (balloons: as UCI repeats them); LED and waveform are
drawn with a fixed seed. They are not the files of the same name row by row, only the same laws, and `source` says so.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from papers.datasets.dataset import Dataset, dataset
from permissible.types import AnyArray

LICENCE = "none needed: generated"
_MONK_SIZES = (3, 3, 2, 3, 4, 2)
_BALLOON = (("YELLOW", "PURPLE"), ("SMALL", "LARGE"), ("STRETCH", "DIP"), ("ADULT", "CHILD"))
# The seven segments of the digits 0 to 9: top, upper left, upper right, middle, lower left, lower right, bottom.
_SEGMENTS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)


def generate(name: str) -> Dataset | None:
    """Make the rule-defined set of this name, or None when there is no such rule.

    Examples
    --------
    >>> generate("monks-1").n_rows
    432
    """
    maker = _MAKERS.get(name)
    return None if maker is None else maker(name)


def names() -> tuple[str, ...]:
    """List the sets that can be generated."""
    return tuple(_MAKERS)


def _words(table: AnyArray, headers: Sequence[str]) -> dict[str, AnyArray]:
    return {header: table[:, place].astype(str).astype(object) for place, header in enumerate(headers)}


def _made(name: str, columns: Mapping[str, AnyArray], target: AnyArray, law: str) -> Dataset:
    return dataset(name, columns, target.astype(str), source=f"generated: {law}", licence=LICENCE)


def _monks(name: str) -> Dataset:
    table = np.array(list(itertools.product(*(range(1, size + 1) for size in _MONK_SIZES))))
    a, b, _, d, e, _ = table.T
    holds = {
        "monks-1": (a == b) | (e == 1),
        "monks-2": (table == 1).sum(axis=1) == 2,
        "monks-3": ((e == 3) & (d == 1)) | ((e != 4) & (b != 3)),
    }[name]
    return _made(name, _words(table, "abcdef"), holds.astype(int), "all 432 combinations, without noise")


def _bits(count: int) -> AnyArray:
    return np.array(list(itertools.product((0, 1), repeat=count)))


def _parity5(name: str) -> Dataset:
    table = _bits(5)
    return _made(name, _words(table, [f"bit {i}" for i in range(1, 6)]), table.sum(axis=1) % 2, "parity of five bits")


def _parity5_5(name: str) -> Dataset:
    table = _bits(10)
    relevant = table[:, [1, 2, 3, 5, 7]]  # as in the PMLB file, whose law this is
    headers = [f"bit {i}" for i in range(1, 11)]
    return _made(name, _words(table, headers), relevant.sum(axis=1) % 2, "parity of five of ten bits")


def _xd6(name: str) -> Dataset:
    table = _bits(9)
    holds = np.any(np.all(table.reshape(-1, 3, 3) == 1, axis=2), axis=1)
    return _made(name, _words(table, [f"a{i}" for i in range(1, 10)]), holds.astype(int), "a1a2a3 or a4a5a6 or a7a8a9")


def _balloons(name: str) -> Dataset:
    rows: list[tuple[str, ...]] = []
    labels: list[str] = []
    law = name.removeprefix("balloons-")
    for color, size, act, age in itertools.product(*_BALLOON):
        yellow_small, adult, stretch = (color, size) == ("YELLOW", "SMALL"), age == "ADULT", act == "STRETCH"
        holds, repeated = {
            "adult-stretch": (adult or stretch, not (adult or stretch)),
            "adult+stretch": (adult and stretch, adult and stretch),
            "yellow-small": (yellow_small, yellow_small),
            "yellow-small+adult-stretch": (yellow_small or (adult and stretch), False),
        }[law]
        rows += [(color, size, act, age)] * (1 + repeated)
        labels += ["T" if holds else "F"] * (1 + repeated)
    columns = _words(np.array(rows), ("color", "size", "act", "age"))
    return _made(name, columns, np.array(labels), f"inflated when {law}, as UCI lists it")


def _led(name: str) -> Dataset:
    """Breiman's LED display: each segment is wrong with probability .1; LED24 adds 17 fair coins."""
    generator = np.random.default_rng(7)
    digits = generator.integers(10, size=3200)
    shown = np.array([[int(bit) for bit in digit] for digit in _SEGMENTS])[digits]
    table = shown ^ (generator.random(shown.shape) < 0.1)
    if name == "led24-3200":
        table = np.hstack([table, generator.integers(2, size=(3200, 17))])
    headers = [f"segment {i}" for i in range(1, table.shape[1] + 1)]
    return _made(name, _words(table, headers), digits, "LED display, 10% noise, seed 7")


def _waveform(name: str) -> Dataset:
    """Breiman's waveforms: a random mixture of two of three triangles, plus unit noise; waveform-40 adds 19 noise columns."""
    generator = np.random.default_rng(21)
    place = np.arange(1, 22)
    triangles = np.stack([np.maximum(6 - np.abs(place - peak), 0) for peak in (7, 15, 11)]).astype(float)
    label = generator.integers(3, size=5000)
    pairs = np.array([(0, 1), (0, 2), (1, 2)])[label]
    share = generator.random((5000, 1))
    table = (
        share * triangles[pairs[:, 0]] + (1 - share) * triangles[pairs[:, 1]] + generator.standard_normal((5000, 21))
    )
    if name == "waveform-40":
        table = np.hstack([table, generator.standard_normal((5000, 19))])
    columns = {f"x{i + 1}": np.round(table[:, i], 2) for i in range(table.shape[1])}
    return _made(name, columns, label, "waveforms, seed 21")


_MAKERS: dict[str, Callable[[str], Dataset]] = {
    **{f"monks-{i}": _monks for i in (1, 2, 3)},
    "parity5": _parity5,
    "parity5+5": _parity5_5,
    "xd6": _xd6,
    **{
        f"balloons-{law}": _balloons
        for law in ("adult-stretch", "adult+stretch", "yellow-small", "yellow-small+adult-stretch")
    },
    "led7-3200": _led,
    "led24-3200": _led,
    "waveform-21": _waveform,
    "waveform-40": _waveform,
}
