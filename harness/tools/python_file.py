"""Import a Python file that a user names, such as `checks/mine.py`.

The file can import what is beside it, and the packages of the environment in which the user started
onceproof. Those of the harness's own environment come first.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from onceproof.outside import import_outside


class BadPythonFile(ImportError):
    """The file cannot be imported; the message says why."""


@cache
def import_file(path: Path) -> ModuleType:
    """Import a file; it can import modules beside it, as when Python runs the file.

    Raises:
        BadPythonFile: the file does not exist, does not end in `.py`, or raised an exception.
    """
    path = path.resolve()
    if not path.is_file():
        raise BadPythonFile(f"there is no file {path}")
    # With a prefix: a file may have the name of a module in the standard library.
    spec = importlib.util.spec_from_file_location(f"onceproof_file_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadPythonFile(f"{path}: expected a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    import_outside()
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[spec.name]
        raise BadPythonFile(f"{path}: {type(error).__name__}: {error}") from error
    return module
