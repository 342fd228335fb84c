"""A command whose output nobody reads any more goes on, and leaves with its own exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAYS = """
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


def left(*command: str, stdout: bool, stderr: bool) -> tuple[int, str]:
    """Run it without readers of some outputs; its exit code, and what it said on the others."""
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
def test_it_goes_on(tmp_path: Path, stdout: bool, stderr: bool) -> None:
    file = tmp_path / "file"
    code, said = left(sys.executable, "-c", SAYS, str(file), stdout=stdout, stderr=stderr)
    assert code == 7
    assert file.read_text() == "written"
    assert "Broken" not in said
    assert ("to nobody" in said) is not stdout
    assert ("nor here" in said) is not stderr


@pytest.mark.parametrize("unbuffered", [True, False])
def test_last_words_are_heard(unbuffered: bool) -> None:
    """Whatever ends it: nothing that was said is kept back."""
    says = (
        "import os, sys; from onceproof.cli.outputs import outlive_readers; outlive_readers(); "
        "print('an error', file=sys.stderr); print('a result'); os._exit(0)"
    )
    option = ["-u"] if unbuffered else []
    code, said = left(sys.executable, *option, "-c", says, stdout=False, stderr=False)
    assert code == 0
    assert "an error" in said
    assert ("a result" in said) or not unbuffered


@pytest.mark.parametrize("command", ["list", "explain lost-write", "config show"])
def test_every_command_does(command: str) -> None:
    whole = [sys.executable, "-m", "onceproof", *command.split()]
    assert left(*whole, stdout=True, stderr=False) == (0, "")
