"""The warning of a doubtful fit: one warning with every doubt of its certificate (learners/doubts.py)."""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import sklearn
from sklearn.exceptions import ConvergenceWarning

from permissible.learners.doubts import Doubts
from permissible.types import AnyArray

OURS = (str(Path(__file__).parents[1]), str(Path(sklearn.__file__).parent / "callback"))
"""Files between a user and a fit: the library, and what wraps `fit` for callbacks."""


class DoubtfulFitWarning(ConvergenceWarning):
    """Something about a finished fit is doubtful; the message says what, and ``certificate_.doubts`` keeps it.

    Examples
    --------
    >>> import warnings
    >>> import permissible as pm
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     model = pm.ULSClassifier.plain(n_rules=5).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> issubclass(said[0].category, pm.DoubtfulFitWarning), model.certificate_.doubts[0].kind
    (True, 'coefficient explodes')
    """


def warn_of(doubts: Sequence[Doubts], names: AnyArray | None = None) -> None:
    """Warn once of all doubts: those of one fit, or of one fit per class, each with its name."""
    words: list[str] = []
    for place, found in enumerate(doubts):
        for doubt in found:
            about = f"Class {names[place]!s}: " if names is not None and len(doubts) > 1 else ""
            words.append(about + doubt.words)
    if words:
        warnings.warn(" ".join(dict.fromkeys(words)), DoubtfulFitWarning, stacklevel=outside())


def outside() -> int:
    """The `stacklevel` of the first caller outside of the library."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        level, frame = level + 1, frame.f_back
    return level
