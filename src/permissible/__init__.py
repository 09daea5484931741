"""Classifiers for the decision that has to be made. The public names live here, loaded when first used; no code does."""

from typing import TYPE_CHECKING

from permissible._lazy import attach

__version__ = "0.1.0"

if TYPE_CHECKING:
    from permissible import datasets as datasets
    from permissible import decisions as decisions
    from permissible import losses as losses
    from permissible import metrics as metrics
    from permissible.decisions import Boundaries as Boundaries
    from permissible.decisions import CostMatrix as CostMatrix
    from permissible.decisions import Hard as Hard
    from permissible.decisions import LogLoss as LogLoss
    from permissible.decisions import Reject as Reject
    from permissible.decisions import Soft as Soft
    from permissible.decisions import Weighted as Weighted

__getattr__, __dir__, __all__ = attach(
    __name__,
    submodules=["losses", "decisions", "metrics", "report", "datasets"],
    names={
        "BinnedDataset": "permissible.distributed.data.dataset",
        "Boundaries": "permissible.decisions",
        "BoundaryClassifier": "permissible.estimators.boundary",
        "BoundaryClassifierCV": "permissible.estimators.boundary_cv",
        "StructuredSVMClassifier": "permissible.estimators.large_margin.structured_svm",
        "UDTClassifier": "permissible.estimators.udt",
        "ULSClassifier": "permissible.estimators.uls",
        "CalibrationDisplay": "permissible.report.displays.calibration",
        "CostCurveDisplay": "permissible.report.displays.curves",
        "CostMatrix": "permissible.decisions",
        "DecisionCurveDisplay": "permissible.report.displays.curves",
        "DoubtfulFitWarning": "permissible.estimators.fit_warning",
        "Hard": "permissible.decisions",
        "LogLoss": "permissible.decisions",
        "MCBoostClassifier": "permissible.estimators.mcboost",
        "MarginDensityDisplay": "permissible.report.displays.margin_density",
        "RegionDisplay": "permissible.report.displays.region",
        "Reject": "permissible.decisions",
        "RiskCoverageDisplay": "permissible.report.displays.risk_coverage",
        "Soft": "permissible.decisions",
        "SubgroupDisplay": "permissible.report.displays.subgroup",
        "WeakLearningDisplay": "permissible.report.displays.weak_learning",
        "Weighted": "permissible.decisions",
        "load": "permissible.estimators.files.save_load",
        "plot_tree": "permissible.estimators.pictures.tree",
        "save": "permissible.estimators.files.save_load",
        "validate": "permissible.evaluation.validated.validate",
    },
)
