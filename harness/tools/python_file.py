"""Importing a Python file that a user names, such as `checks/mine.py`."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType


class BadPythonFile(ImportError):
    """The file cannot be imported; the text says why."""


@cache
def import_file(path: Path) -> ModuleType:
    """The module of a file; what lies beside it can be imported, as when Python runs the file.

    Raises:
        BadPythonFile: there is no such file, or it raised an exception.
    """
    path = path.resolve()
    if not path.is_file():
        raise BadPythonFile(f"there is no file {path}")
    # Under a name of its own: a file may be called like a module of the standard library.
    spec = importlib.util.spec_from_file_location(f"onceproof_file_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadPythonFile(f"{path}: expected a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    beside = str(path.parent)
    if beside not in sys.path:
        sys.path.append(beside)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[spec.name]
        raise BadPythonFile(f"{path}: {type(error).__name__}: {error}") from error
    return module
