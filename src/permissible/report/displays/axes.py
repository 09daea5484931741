"""Where a picture is drawn."""

from typing import Any


def axes_or_new(ax: Any, **figure: Any) -> Any:
    """Return the given matplotlib axes, or those of a new figure; matplotlib is imported only then.

    Examples
    --------
    >>> from permissible.report.displays.axes import axes_or_new
    >>> ax = axes_or_new(None, figsize=(4, 3))
    >>> axes_or_new(ax) is ax
    True
    """
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(**figure)[1]
