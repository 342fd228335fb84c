"""What a command imports at start-up."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onceproof.cli import app

OURS = {f"onceproof.{name}" for name in ("checkers", "harness", "reports", "scenarios")}
HEAVY = {"confluent_kafka", "duckdb", "hypothesis", "jinja2", "pyarrow", "pydantic", "pyspark"}


def imported(*arguments: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('\\n@', *sys.modules))\n"
        "from onceproof.cli import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120
    )
    return set(done.stdout.rpartition("@")[2].split())


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["check", "--help"]])
def test_help_imports_no_heavy_packages(arguments: list[str]) -> None:
    found = imported(*arguments)
    assert "typer" in found
    assert not found & (OURS | HEAVY)


def test_foreign_history_is_judged_without_the_harness(tmp_path: Path) -> None:
    history = tmp_path / "history.edn"
    history.write_text("{:type :ok, :f :send, :process 0, :time 1, :index 0, :value []}\n")
    found = imported("check", str(history))
    assert "onceproof.checkers" in found
    assert not found & {"onceproof.harness", "onceproof.scenarios", "confluent_kafka", "pyspark"}


def test_version_lists_components() -> None:
    done = CliRunner().invoke(app, ["--version"])
    first, *parts = done.stdout.splitlines()
    assert (done.exit_code, first) == (0, f"onceproof {metadata.version('onceproof')}")
    assert f"  pyspark {metadata.version('pyspark')}" in parts
    assert any(part.startswith("  code ") for part in parts)
