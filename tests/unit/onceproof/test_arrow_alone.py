"""Judging does without numpy and pandas; other code can still import them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from onceproof.checkers import History

pytestmark = pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")


def last_line(code: str, *arguments: str) -> str:
    """Run code in a new Python process, and return the last line it prints."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()[-1]


def test_judging_imports_neither_numpy_nor_pandas(tmp_path: Path) -> None:
    History.of(
        sends=[{"record": "a"}, {"record": "b"}],
        log=[{"record": "a", "digest": "in-a"}, {"record": "b", "digest": "in-b"}],
    ).save(tmp_path)
    code = """
        import atexit, sys
        from onceproof.cli import main
        modules = ("numpy", "pandas", "pyarrow")
        atexit.register(lambda: print([m in sys.modules for m in modules]))
        main()
        """
    arguments = ("check", str(tmp_path), "--format", "parquet", "--claim", "exactly-once:input")
    assert last_line(code, *arguments) == "[False, False, True]"


def test_arrow_imports_pandas_in_foreign_process() -> None:
    code = """
        import sys
        from onceproof.arrow_alone import import_arrow_alone, process_is_ours
        import_arrow_alone()
        import pyarrow as pa
        pa.array([1])
        print("pandas" in sys.modules)
        """
    assert last_line(code) == "True"


def test_pandas_can_be_imported_afterwards() -> None:
    code = """
        import sys
        from onceproof.arrow_alone import import_arrow_alone, process_is_ours
        process_is_ours()
        import_arrow_alone()
        import pyarrow as pa
        pa.table({"a": [1, 1]}).group_by("a").aggregate([])
        before = "pandas" in sys.modules
        import pandas
        print(before, len(pandas.DataFrame({"a": [1]})))
        """
    assert last_line(code) == "False 1"
