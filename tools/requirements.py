"""Print the requirements of the package and of the named extras, one per line, extras of our own resolved."""

import sys
import tomllib
from pathlib import Path


def requirements(extras: list[str]) -> list[str]:
    """List what to install for the core and `extras`, in a stable order."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    queue = list(extras)
    while queue:
        for requirement in project["optional-dependencies"][queue.pop(0)]:
            if requirement.startswith("permissible["):
                queue += requirement[len("permissible[") : -1].split(",")
            else:
                wanted.append(requirement)
    return sorted(set(wanted))


def lowest(listed: list[str]) -> list[str]:
    """Pin the package's own dependencies at the lowest version that is allowed; tools stay as they are."""
    own = set(requirements([]))
    return [requirement.replace(">=", "==") if requirement in own else requirement for requirement in listed]


if __name__ == "__main__":
    given = sys.argv[1:]
    listed = requirements([name for name in given if name != "--lowest"])
    print("\n".join(lowest(listed) if "--lowest" in given else listed))
