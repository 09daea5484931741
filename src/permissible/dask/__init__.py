"""Estimators for dask collections: the rows stay on the workers, and `fit` returns an ordinary local estimator.

Dask loads the partitions and decides which worker holds them. During a fit messages go to the workers directly (`rpc`).
The client makes every choice, and sums over rows are integers, so the model equals the one fitted on one machine, bit
for bit. Names load when first used: a worker needs the passes and the questions, not the estimators (a second of imports).
"""

from typing import TYPE_CHECKING

from permissible._lazy import attach

try:
    import distributed as _distributed
except ImportError as error:  # pragma: no cover (the extra is installed wherever tests run)
    raise ImportError(
        "permissible.dask needs dask.distributed; install it with: pip install 'permissible[dask]'"
    ) from error

del _distributed

if TYPE_CHECKING:
    from permissible.dask.estimators import BoundaryClassifier, MCBoostClassifier, UDTClassifier, ULSClassifier
    from permissible.dask.loading import Loaded, decide, load, predict, predict_proba

_NAMES = {
    **dict.fromkeys(
        ("BoundaryClassifier", "MCBoostClassifier", "UDTClassifier", "ULSClassifier"), "permissible.dask.estimators"
    ),
    **dict.fromkeys(("Loaded", "decide", "load", "predict", "predict_proba"), "permissible.dask.loading"),
}
__getattr__, __dir__, __all__ = attach(__name__, (), _NAMES)
