"""Run a module with packages that the environment does not have.

`python -m onceproof.harness.processes.with_packages FOLDER MODULE ARGUMENT...` calls the module's
`main`. FOLDER has the packages; it is empty if the environment has them after all. It comes last on
the path, so that nothing else in it hides our modules.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from onceproof.harness.processes.python import python_module


def with_packages(folder: Path | None, module: str, *arguments: str | Path) -> Sequence[str | Path]:
    """Return the command that runs a module with the packages in a folder."""
    return [*python_module(__name__, str(folder or "")), module, *arguments]


def main() -> None:
    _, folder, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    if folder:
        sys.path.append(folder)
    import_module(module).main()


if __name__ == "__main__":
    main()
