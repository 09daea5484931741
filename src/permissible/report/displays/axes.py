"""Where a picture is drawn."""

from typing import Any


def axes_or_new(ax: Any, **figure: Any) -> Any:
    """The given matplotlib axes, or those of a new figure; matplotlib is imported only then."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(**figure)[1]
