"""Estimators for dask collections: the rows stay on the workers, and `fit` returns an ordinary local estimator.

Dask loads the partitions and decides which worker holds them. During a fit messages go to the workers directly (`rpc`).
The client makes every choice, and sums over rows are integers, so the model equals the one fitted on one machine, bit
for bit.
"""

try:
    import distributed as _distributed
except ImportError as error:  # pragma: no cover (the extra is installed wherever tests run)
    raise ImportError(
        "permissible.dask needs dask.distributed; install it with: pip install 'permissible[dask]'"
    ) from error

from permissible.dask.estimators import BoundaryClassifier, MCBoostClassifier, UDTClassifier, ULSClassifier
from permissible.dask.loading import Loaded, decide, load, predict, predict_proba

__all__ = [
    "BoundaryClassifier",
    "Loaded",
    "MCBoostClassifier",
    "UDTClassifier",
    "ULSClassifier",
    "decide",
    "load",
    "predict",
    "predict_proba",
]
del _distributed
