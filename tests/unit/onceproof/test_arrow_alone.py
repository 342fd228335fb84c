"""Commands that judge go without numpy and pandas, and nobody else has to."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from onceproof.checkers import History

pytestmark = pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")


def said(code: str, *arguments: str) -> str:
    """What a Python of its own prints last."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()[-1]


def test_judging_loads_neither_numpy_nor_pandas(tmp_path: Path) -> None:
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
    asked = ("check", str(tmp_path), "--format", "parquet", "--claim", "exactly-once:input")
    assert said(code, *asked) == "[False, False, True]"


def test_in_a_process_of_somebody_else_arrow_is_theirs() -> None:
    code = """
        import sys
        from onceproof.arrow_alone import import_arrow_alone, process_is_ours
        import_arrow_alone()
        import pyarrow as pa
        pa.array([1])
        print("pandas" in sys.modules)
        """
    assert said(code) == "True"


def test_who_wants_pandas_still_gets_it() -> None:
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
    assert said(code) == "False 1"
