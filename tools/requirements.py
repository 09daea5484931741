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


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
