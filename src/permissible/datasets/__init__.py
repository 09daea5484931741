"""The data of the demo, small enough to come with the package.

German credit: Statlog (German Credit Data), Hans Hofmann, UCI Machine Learning Repository, https://doi.org/10.24432/C5NC77,
licence CC BY 4.0. The codes of the original are written out in words (`tools/german_credit.py`); nothing else is changed.
"""

from pathlib import Path

import numpy as np

from permissible.table.files import open_table, whole
from permissible.types import AnyArray

GERMAN_CREDIT = Path(__file__).with_name("german_credit.csv.gz")
COSTS = np.array([[0.0, 1.0], [5.0, 0.0]])
"""What the data came with: a bad loan that is granted costs 5, a good one that is refused 1; rows: the truth."""


def german_credit() -> tuple[dict[str, AnyArray], AnyArray]:
    """Return 1,000 applicants for a loan, 20 columns by name, and what became of it: "paid back" or "went bad".

    Examples
    --------
    >>> import permissible as pm
    >>> X, y = pm.datasets.german_credit()
    >>> len(X), int(sum(y == "went bad")), X["purpose"][:2].tolist()
    (20, 300, ['radio or television', 'radio or television'])
    """
    source = open_table(GERMAN_CREDIT)
    columns = whole(source, source.kinds())
    labels = columns.pop("loan").astype(str)
    return columns, labels
