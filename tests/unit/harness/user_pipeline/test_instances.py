"""Several instances of a command: numbering, restarts and shutdown."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from onceproof.harness.user_pipeline.instances import several
from onceproof.harness.wait import wait_until

INSTANCE_SCRIPT = (
    "import pathlib, sys, os, time\n"
    "with open(sys.argv[1], 'a') as file: file.write(sys.argv[2] + '\\n')\n"
    "time.sleep(600)\n"
)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    starts = tmp_path / "told"
    starts.touch()
    command = [sys.executable, "-c", INSTANCE_SCRIPT, str(starts), "instance-{instance}"]
    process = subprocess.Popen(several(3, command))
    yield process, starts
    for child in psutil.Process(process.pid).children() if process.poll() is None else ():
        child.kill()
    process.kill()
    process.wait()


def wait_for_starts(starts: Path, count: int) -> list[str]:
    wait_until(lambda: len(starts.read_text().split()) >= count, what=f"{count} lives", seconds=60)
    return sorted(starts.read_text().split())


def test_instances_are_numbered_and_restarted(
    started: tuple[subprocess.Popen[bytes], Path],
) -> None:
    process, starts = started
    assert wait_for_starts(starts, 3) == ["instance-0", "instance-1", "instance-2"]
    instance_1 = [c for c in psutil.Process(process.pid).children() if "instance-1" in c.cmdline()]
    instance_1[0].kill()
    assert wait_for_starts(starts, 4) == ["instance-0", "instance-1", "instance-1", "instance-2"]
    assert process.poll() is None
    assert len(psutil.Process(process.pid).children()) == 3


def test_terminate_ends_all_instances(started: tuple[subprocess.Popen[bytes], Path]) -> None:
    process, starts = started
    wait_for_starts(starts, 3)
    children = psutil.Process(process.pid).children()
    process.terminate()
    assert process.wait(60) == 0
    assert not any(child.is_running() for child in children)


@pytest.mark.parametrize(
    ("command", "code"), [([sys.executable, "-c", "raise SystemExit(7)"], 7), (["nix-nada"], 127)]
)
def test_exits_with_the_code_of_a_repeatedly_failing_instance(
    command: list[str], code: int
) -> None:
    assert subprocess.run(several(2, command), timeout=120, check=False).returncode == code
