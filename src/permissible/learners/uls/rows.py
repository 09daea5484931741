"""What a fit asks of the rows, wherever they are: the protocol between the coordinator (learners/uls/boost.py) and the data.

The law: every answer is a sum of integers over rows (or a maximum), so the answers of parts of a table *add*, in any order,
to the answer of the whole table; and the rows change by `reset` and `apply` only. A transport (blocks on disk, workers of a
cluster) implements `Rows` by sending each call to every part and merging with `merged_sums`, `Standing.merged` and
`Patterns.merged`. Calls carry rules, numbers and nothing else, so they pickle small; parts keep codes, labels, sample weights
and margins. A part that is lost is rebuilt from its data by `reset` with the model so far.

| call | answer | merged by |
|---|---|---|
| `facts()` | rows, total sample weight, largest real sample weight | +, +, max |
| `reset(terms, grids)` | `Standing`: margins set to those of a model | see `Standing.merged` |
| `count(rule)` | covered rows | + |
| `histogram(rule, request)` | int64 (columns, sums, 256) over the covered rows | + |
| `measure(rule, value_in, value_out, grids)` | exact sums (6, 2) at a trial step | + |
| `apply(rule, value_in, value_out, grids)` | `Standing` after the step | see `Standing.merged` |
| `patterns(rules, grid)` | `Patterns`: weight per class of each combination of rules | by pattern, + |

An exact sum is a pair (high, low) of int64 with value high * 2^32 + low, so pairs add elementwise without carrying.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from permissible.bins.literal import Rule
from permissible.types import Codes, IntArray


class Grids(NamedTuple):
    """The powers of two on which terms become integers: of weights, curvatures, losses and sample weights."""

    weight: float
    curvature: float
    value: float = 1.0
    error: float = 1.0


class HistogramRequest(NamedTuple):
    """Grids of a histogram, and the share of runs of rows that it visits (chosen by the seed)."""

    weight_grid: float
    curvature_grid: float
    share: float = 1.0
    seed: int = 0


class Facts(NamedTuple):
    """What the coordinator must know of the rows before the first round."""

    n_rows: int
    total_weight: float
    largest_sample: float
    real_weights: bool

    @property
    def units(self) -> float:
        """Rows, counted with their copies where weights are whole numbers: what a histogram's sums must hold."""
        return float(self.n_rows) if self.real_weights else self.total_weight

    @staticmethod
    def merged(parts: Sequence["Facts"]) -> "Facts":
        """The facts of all parts together (parts agree on what kind of weights they hold)."""
        return Facts(
            sum(part.n_rows for part in parts),
            sum(part.total_weight for part in parts),
            max(part.largest_sample for part in parts),
            any(part.real_weights for part in parts),
        )


class Terms(NamedTuple):
    """A model to start from: score = constant + sum of coefficient * h."""

    constant: float = 0.0
    rules: tuple[Rule, ...] = ()
    coefficients: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How the rows stand after a change: six exact sums and the extreme states.

    The sums are of |weight|, curvature, loss and misclassified sample weight over all rows, and of the sample weight of the
    covered rows and of the positives among them.
    """

    sums: IntArray
    low_state: float
    high_state: float

    @staticmethod
    def merged(parts: Sequence["Standing"]) -> "Standing":
        """The standing of all parts together."""
        return Standing(
            merged_sums([part.sums for part in parts]),
            min(part.low_state for part in parts),
            max(part.high_state for part in parts),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The different combinations of covering rules, sorted, and the weight of negatives and positives of each.

    `bits` is uint8 (patterns, rules), `weight` int64 (patterns, 2) on the grid of sample weights.
    """

    bits: Codes
    weight: IntArray

    @staticmethod
    def merged(parts: Sequence["Patterns"]) -> "Patterns":
        """The patterns of all parts together, sorted, weights of equal ones added."""
        bits = np.concatenate([part.bits for part in parts])
        weight = np.concatenate([part.weight for part in parts])
        if bits.shape[1] == 0:
            return Patterns(bits[:1], weight.sum(axis=0, keepdims=True))
        order = np.lexsort(bits.T[::-1])
        bits, weight = bits[order], weight[order]
        first = np.append(True, (bits[1:] != bits[:-1]).any(axis=1))
        starts = np.flatnonzero(first)
        return Patterns(np.ascontiguousarray(bits[starts]), np.add.reduceat(weight, starts, axis=0))


def merged_sums(parts: Sequence[IntArray]) -> IntArray:
    """Integer answers of the parts, added."""
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


def value_of(pair: IntArray, grid: float) -> float:
    """The real value of an exact sum."""
    return float((int(pair[0]) << 32) + int(pair[1])) / grid


def pairs_of(totals: Sequence[int]) -> IntArray:
    """Exact sums as pairs."""
    return np.array([(total >> 32, total & 0xFFFFFFFF) for total in totals], dtype=np.int64)


class Rows(Protocol):
    """The rows of a fit; see the table at the top of this file."""

    def facts(self) -> Facts:
        """Rows, total sample weight, largest real sample weight."""
        ...

    def reset(self, terms: Terms, grids: Grids) -> Standing:
        """Set every margin to that of a model."""
        ...

    def count(self, rule: Rule) -> int:
        """How many rows the rule covers."""
        ...

    def histogram(self, rule: Rule, request: HistogramRequest) -> IntArray:
        """Quantised signed weights (and curvatures) of the covered rows, summed by column and code."""
        ...

    def measure(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> IntArray:
        """Sums of y w, curvature and y * its slope at a trial step: three over covered rows, three over the others."""
        ...

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> Standing:
        """Add a value to the score of covered rows and one to that of the others."""
        ...

    def patterns(self, rules: tuple[Rule, ...], grid: float) -> Patterns:
        """The combinations of covering rules that occur, with the weight of each class."""
        ...
