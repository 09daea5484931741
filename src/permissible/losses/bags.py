"""The bags of losses among which the papers' adaptive flavours choose, round by round or fold by fold ([N] section 6).

F1 and F2 pick each round the loss whose step gives the least training error, E1 and E2 the one whose rule has the largest edge;
F* runs each loss alone and keeps the best. [I] lists four of the five functions of F* (E22). Ties go to the order of the bag.
"""

from collections.abc import Mapping
from types import MappingProxyType

FIRST = ("mu", "matsushita", "logistic", "squared")
SECOND = ("mu", "matsushita", "logistic", "power")
BAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"F1": FIRST, "F2": SECOND, "E1": FIRST, "E2": SECOND, "F*": (*FIRST, "power")}
)
