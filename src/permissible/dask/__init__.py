"""The estimators over dask collections: the same parameters, data on the workers of a cluster, an ordinary local model back.

Dask owns loading, placement and membership. The rounds of a fit talk to the workers directly (the transport in `rpc`),
every choice is the coordinator's, and sums over rows are integers: the model is that of one machine to the last bit.
"""

try:
    import distributed as _distributed
except ImportError as error:  # pragma: no cover (the extra is installed wherever tests run)
    raise ImportError(
        "permissible.dask needs dask.distributed; install it with: pip install 'permissible[dask]'"
    ) from error

from permissible.dask.estimators import BoundaryClassifier, MCBoostClassifier, UDTClassifier, ULSClassifier

__all__ = ["BoundaryClassifier", "MCBoostClassifier", "UDTClassifier", "ULSClassifier"]
del _distributed
