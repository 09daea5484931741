"""Classifiers for the decision that has to be made. The public names live here, loaded when first used; no code does."""

from typing import TYPE_CHECKING

from permissible._lazy import attach

__version__ = "0.1.0"

if TYPE_CHECKING:
    from permissible import decisions as decisions
    from permissible import losses as losses
    from permissible.decisions import Boundaries as Boundaries
    from permissible.decisions import CostMatrix as CostMatrix
    from permissible.decisions import Hard as Hard
    from permissible.decisions import Reject as Reject
    from permissible.decisions import Soft as Soft
    from permissible.decisions import Weighted as Weighted

__getattr__, __dir__, __all__ = attach(
    __name__,
    submodules=["losses", "decisions", "report"],
    names={
        "BinnedDataset": "permissible.distributed.data.dataset",
        "Boundaries": "permissible.decisions",
        "BoundaryClassifier": "permissible.estimators.boundary",
        "BoundaryClassifierCV": "permissible.estimators.boundary_cv",
        "UDTClassifier": "permissible.estimators.udt",
        "ULSClassifier": "permissible.estimators.uls",
        "CostMatrix": "permissible.decisions",
        "DoubtfulFitWarning": "permissible.estimators.fit_warning",
        "Hard": "permissible.decisions",
        "MCBoostClassifier": "permissible.estimators.mcboost",
        "MarginDensityDisplay": "permissible.report.displays.margin_density",
        "RegionDisplay": "permissible.report.displays.region",
        "Reject": "permissible.decisions",
        "RiskCoverageDisplay": "permissible.report.displays.risk_coverage",
        "Soft": "permissible.decisions",
        "Weighted": "permissible.decisions",
        "load": "permissible.estimators.files.save_load",
        "plot_tree": "permissible.report.tree_plot",
        "save": "permissible.estimators.files.save_load",
    },
)
