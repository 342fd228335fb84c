"""Several instances of a command: each has its number, and is started again when it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from onceproof.harness.user_pipeline.instances import several
from onceproof.harness.wait import wait_until

LIVES = (
    "import pathlib, sys, os, time\n"
    "with open(sys.argv[1], 'a') as file: file.write(sys.argv[2] + '\\n')\n"
    "time.sleep(600)\n"
)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    told = tmp_path / "told"
    told.touch()
    command = [sys.executable, "-c", LIVES, str(told), "instance-{instance}"]
    process = subprocess.Popen(several(3, command))
    yield process, told
    for child in psutil.Process(process.pid).children() if process.poll() is None else ():
        child.kill()
    process.kill()
    process.wait()


def wait_lives(told: Path, count: int) -> list[str]:
    wait_until(lambda: len(told.read_text().split()) >= count, what=f"{count} lives", seconds=60)
    return sorted(told.read_text().split())


def test_each_has_its_number_and_comes_back(
    started: tuple[subprocess.Popen[bytes], Path],
) -> None:
    process, told = started
    assert wait_lives(told, 3) == ["instance-0", "instance-1", "instance-2"]
    of_one = [c for c in psutil.Process(process.pid).children() if "instance-1" in c.cmdline()]
    of_one[0].kill()
    assert wait_lives(told, 4) == ["instance-0", "instance-1", "instance-1", "instance-2"]
    assert process.poll() is None
    assert len(psutil.Process(process.pid).children()) == 3


def test_all_end_when_it_is_asked_to(started: tuple[subprocess.Popen[bytes], Path]) -> None:
    process, told = started
    wait_lives(told, 3)
    children = psutil.Process(process.pid).children()
    process.terminate()
    assert process.wait(60) == 0
    assert not any(child.is_running() for child in children)


@pytest.mark.parametrize(
    ("command", "code"), [([sys.executable, "-c", "raise SystemExit(7)"], 7), (["nix-nada"], 127)]
)
def test_it_fails_when_one_fails_over_and_over(command: list[str], code: int) -> None:
    assert subprocess.run(several(2, command), timeout=120, check=False).returncode == code
