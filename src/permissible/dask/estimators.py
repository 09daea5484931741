"""Estimators fitted on a cluster: the parameters of the local estimator, and how to reach the workers.

`fit` returns the fitted local estimator, which predicts, prints, saves and exports without a cluster.
"""

from copy import copy
from numbers import Integral
from types import NoneType
from typing import Any, ClassVar

from distributed import Client
from sklearn.base import clone

from permissible.bins.literal import Literal
from permissible.dask.loading import TRANSPORTS, Loaded, load, spread
from permissible.distributed.data.content import ContentOf, label_hashes
from permissible.distributed.data.dataset import BinnedDataset
from permissible.distributed.protocol.journal import FileJournal, Records, fingerprint
from permissible.estimators import boundary, mcboost, udt, uls
from permissible.estimators.input.source import HasSource, source_of
from permissible.estimators.input.training import seed
from permissible.learners.mcboost.linear.affine import AffineStep
from permissible.learners.mcboost.tree_step import TreeStep
from permissible.learners.trees.grower import Weighed
from permissible.learners.uls.refit import Refit
from permissible.learners.uls.search import GrownRule
from permissible.learners.uls.step import Leverage
from permissible.learners.uls.trace import Round, Trace
from permissible.rows.source import Source
from permissible.validation import one_of, refusal
from permissible.validation.numbers import real_number, whole_number

RECORDS = Records(
    {AffineStep: 1, TreeStep: 1, GrownRule: 1, Weighed: None, Leverage: 0, Literal: 0, Refit: 0, Round: 0, Trace: 0},
    (Trace,),
)
"""The classes of choices that a checkpoint may contain."""


class OnCluster:
    """Loading, transport and checkpoint; the fit itself is the local estimator's."""

    local: ClassVar[Any]
    resumes: ClassVar[bool] = True
    own = ("client", "checkpoint", "checkpoint_every", "timeout", "transport")

    def __init__(
        self,
        *,
        client: Client | None = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        timeout: float = 120.0,
        transport: str = "rpc",
        **settings: Any,
    ) -> None:
        self.client, self.checkpoint, self.checkpoint_every = client, checkpoint, checkpoint_every
        self.timeout, self.transport = timeout, transport
        self.estimator = self.local(**settings)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get parameters."""
        return {**self.estimator.get_params(deep), **{name: getattr(self, name) for name in self.own}}

    def set_params(self, **params: Any) -> "OnCluster":
        """Set parameters."""
        for name in [name for name in params if name in self.own]:
            setattr(self, name, params.pop(name))
        self.estimator.set_params(**params)
        return self

    def __sklearn_clone__(self) -> "OnCluster":
        """The same parameters; the client is shared."""
        found = copy(self)
        found.estimator = clone(self.estimator)
        return found

    def __repr__(self) -> str:
        """The local estimator, and how it is fitted on the cluster."""
        return f"permissible.dask.{self.estimator!r}"

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None, weight: str | None = None
    ) -> Any:
        """Fit on a cluster and return the local estimator, fitted.

        Parameters
        ----------
        X : dask DataFrame, dask Array, list of files, BinnedDataset, or what `permissible.dask.load` returned
            A `BinnedDataset` is spread over the workers of a `client` that is given, and is fitted in this process
            without one.
        y : dask collection with the rows of X, or the name of a column of X
        sample_weight : the same
        target, weight : str
            Column names, if X is a list of files.
        """
        one_of("transport", self.transport, TRANSPORTS)
        timeout = real_number("timeout", self.timeout)
        every = whole_number("checkpoint_every", self.checkpoint_every, 1) or 1
        fit_seed = seed(self.estimator.random_state)
        if self.checkpoint is not None and not self._can_resume():
            raise refusal("checkpoint", "None, since this estimator cannot resume", self.checkpoint)
        chosen = self.estimator.random_state
        if self.checkpoint is not None and not isinstance(chosen, (Integral, NoneType)):
            raise refusal("random_state", "None or an integer where a checkpoint is kept, so that fits repeat", chosen)
        fitted = self.local(**{**self.estimator.get_params(deep=False), "random_state": fit_seed})
        if isinstance(X, HasSource):
            data: Source = source_of(X, y, sample_weight, values=self._needs_values())
            if isinstance(X, BinnedDataset) and self.client is not None:
                data = spread(self.client, X, timeout)
        else:
            categorical, bins = getattr(fitted, "categorical_features", None), getattr(fitted, "max_bins", 255)
            how: dict[str, Any] = {"categorical_features": categorical, "max_bins": bins, "random_state": fit_seed}
            how |= {"client": self.client, "timeout": timeout, "transport": self.transport}
            how |= {"target": target, "weight": weight, "keep_values": self._needs_values()}
            data = load(X, y, sample_weight, **how).data
            used = {"categorical_features": None, "max_bins": 255}  # used by the loading only
            fitted.set_params(**{name: value for name, value in used.items() if hasattr(fitted, name)})
        if self.checkpoint is None:
            fitted.fit(Loaded(data))
        else:
            journal = FileJournal.open(self.checkpoint, self._fingerprint(data), RECORDS, every)
            fitted.fit(Loaded(data.with_journal(journal)))
            journal.finish()
        fitted.set_params(**self.estimator.get_params(deep=False))
        return fitted

    def _can_resume(self) -> bool:
        """Whether a fit with these settings writes checkpoints."""
        return self.resumes

    def _needs_values(self) -> bool:
        """Whether the partitions must keep the values as well as the codes."""
        return self.local is boundary.BoundaryClassifier or getattr(self.estimator, "learner", None) == "linear"

    def _fingerprint(self, data: Source) -> str:
        """Identifies this fit: its settings and its rows."""
        settings = sorted((name, value) for name, value in self.estimator.get_params().items() if name != "verbose")
        content = data.survey(ContentOf(label_hashes(data.classes)))
        return fingerprint(settings, content, data.classes, data.binning, data.weighted)


class ULSClassifier(OnCluster):
    """Boosted rules: :class:`permissible.ULSClassifier`, fitted on a cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        The default client if None.
    checkpoint : path, optional
        File from which an interrupted fit can resume. It is replaced every `checkpoint_every` rounds and deleted when
        the fit is done. A new fit with the same data and settings continues from it and gives the identical model. Not with
        ``learner="tree"``.
    checkpoint_every : int
    timeout : float
        Seconds to wait for the answers of all partitions, including the reloading of lost ones, before the fit fails.
    transport : {"rpc", "serial"}
        Messages to the workers through a plugin, or all partitions brought to this process.
    **settings
        The parameters of the local estimator.

    Examples
    --------
    >>> from permissible.dask import ULSClassifier
    >>> ULSClassifier(n_rounds=20, transport="serial").get_params()["n_rounds"]
    20
    """

    local = uls.ULSClassifier

    def _can_resume(self) -> bool:
        """Boosted trees keep no journal."""
        return bool(self.estimator.learner != "tree")


class UDTClassifier(OnCluster):
    """A decision tree: :class:`permissible.UDTClassifier`, fitted on a cluster.

    Parameters
    ----------
    client, checkpoint, checkpoint_every, timeout, transport
        As in :class:`permissible.dask.ULSClassifier`; the checkpoint is written after every batch of nodes.
    **settings
        The parameters of the local estimator.

    Examples
    --------
    >>> from permissible.dask import UDTClassifier
    >>> UDTClassifier(max_leaf_nodes=7).get_params()["max_leaf_nodes"]
    7
    """

    local = udt.UDTClassifier


class MCBoostClassifier(OnCluster):
    """Multiclass boosting of affine terms, rules or trees with a cost matrix, fitted on a cluster.

    Parameters
    ----------
    client, checkpoint, checkpoint_every, timeout, transport
        As in :class:`permissible.dask.ULSClassifier`.
    **settings
        The parameters of :class:`permissible.MCBoostClassifier`; `learner` must be "linear", "rule" or "tree".

    Examples
    --------
    >>> from permissible.dask import MCBoostClassifier
    >>> MCBoostClassifier(learner="tree", n_rounds=50).get_params()["n_rounds"]
    50
    """

    local = mcboost.MCBoostClassifier


class BoundaryClassifier(OnCluster):
    """The linear large-margin classifier for probability boundaries, fitted on a cluster.

    Parameters
    ----------
    client, timeout, transport
        As in :class:`permissible.dask.ULSClassifier`; there is no checkpoint.
    **settings
        The parameters of :class:`permissible.BoundaryClassifier`, without a kernel; `solver` is "auto" or "newton"
        (Newton's method on smoothed hinges, to a certified gap) or "psgd" (projected sub-gradients).

    Examples
    --------
    >>> from permissible.dask import BoundaryClassifier
    >>> BoundaryClassifier(boundaries="soft", alpha=0.01).get_params()["alpha"]
    0.01
    """

    local = boundary.BoundaryClassifier
    resumes = False
