"""Fits on data in parts: a `BinnedDataset`, or partitions on a cluster. The estimators call this in place of reading X and y."""

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from permissible.validation import Words, refusal

if TYPE_CHECKING:
    from permissible.distributed.parted import Parted


@runtime_checkable
class PartedSource(Protocol):
    """Data that lies in parts and knows its target and weights: fit(X) takes it in place of X, y and sample_weight."""

    def parted(self) -> "Parted":
        """How to reach the parts."""
        ...


def parted_data(X: PartedSource, y: Any, sample_weight: Any, class_weight: Any = None) -> "Parted":
    """The parts; target and weights must have come with them."""
    for name, value in (("y", y), ("sample_weight", sample_weight), ("class_weight", class_weight)):
        if value is not None:
            raise refusal(
                name, "None, since the data set holds its target and weights", Words("a value beside it"),
                "name the columns `target` and `weight` when the data set is made",
            )  # fmt: skip
    return X.parted()
