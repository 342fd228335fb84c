"""A command continues when its output has no reader, and keeps its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
from onceproof.cli.outputs import outlive_readers
from onceproof.reports.terminal import console

outlive_readers()
for _ in range(3):
    console(sys.stdout).print("to nobody")
    print("x" * 100_000)
    print("nor here", file=sys.stderr)
Path(sys.argv[1]).write_text("written")
sys.exit(7)
"""


def run_without_readers(*command: str, stdout: bool, stderr: bool) -> tuple[int, str]:
    """Run with some outputs closed; return the exit code and the text of the others."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            command,
            stdout=writing if stdout else subprocess.PIPE,
            stderr=writing if stderr else subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    return done.returncode, (done.stdout or "") + (done.stderr or "")


@pytest.mark.parametrize(("stdout", "stderr"), [(True, False), (False, True), (True, True)])
def test_command_continues_without_readers(tmp_path: Path, stdout: bool, stderr: bool) -> None:
    file = tmp_path / "file"
    code, output = run_without_readers(
        sys.executable, "-c", PROGRAM, str(file), stdout=stdout, stderr=stderr
    )
    assert code == 7
    assert file.read_text() == "written"
    assert "Broken" not in output
    assert ("to nobody" in output) is not stdout
    assert ("nor here" in output) is not stderr


@pytest.mark.parametrize("unbuffered", [True, False])
def test_stderr_is_flushed_before_hard_exit(unbuffered: bool) -> None:
    """So is standard output if it is unbuffered."""
    program = (
        "import os, sys; from onceproof.cli.outputs import outlive_readers; outlive_readers(); "
        "print('an error', file=sys.stderr); print('a result'); os._exit(0)"
    )
    option = ["-u"] if unbuffered else []
    code, output = run_without_readers(
        sys.executable, *option, "-c", program, stdout=False, stderr=False
    )
    assert code == 0
    assert "an error" in output
    assert ("a result" in output) or not unbuffered


@pytest.mark.parametrize("command", ["list", "explain lost-write", "config show"])
def test_commands_survive_closed_stdout(command: str) -> None:
    command_line = [sys.executable, "-m", "onceproof", *command.split()]
    assert run_without_readers(*command_line, stdout=True, stderr=False) == (0, "")
