"""The programs of `docs/how-to/write-a-history.md` give the output that the page shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from onceproof.harness.tools import java
from tests.end_to_end.catalogue import LATER
from tests.unit.docs.pages import blocks_of, text_of, typed

PAGE = "docs/how-to/write-a-history.md"
SHOWN = {block.language: block for block in blocks_of(PAGE, text_of(PAGE))}


def check_output(written: str, folder: Path) -> None:
    """Run the page's command on a history, and compare its output with the page."""
    (folder / "history.jsonl").write_text(written)
    (line,) = typed(SHOWN["console"])
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(line)],
        capture_output=True, text=True, cwd=folder, timeout=120,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    expected = SHOWN["text"].text.splitlines()
    assert len(expected) == 2
    for claimed in expected:
        words = claimed.removesuffix("…").split()
        assert re.search(r"\s+".join(map(re.escape, words)), done.stdout), done.stdout


def test_java_program_writes_the_history(tmp_path: Path) -> None:
    (tmp_path / "History.java").write_text(SHOWN["java"].text)
    jackson = Path(pyspark.__file__).parent / "jars" / "*"  # Spark brings it along
    done = subprocess.run(
        [java.find().program, "-cp", jackson, "History.java"],
        capture_output=True, text=True, cwd=tmp_path, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    check_output(done.stdout, tmp_path)


@pytest.mark.skipif(not shutil.which("gofmt"), reason="no Go here")
def test_go_program_is_formatted(tmp_path: Path) -> None:
    done = subprocess.run(
        ["gofmt", "-e", "-l"], input=SHOWN["go"].text, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("", "")


@LATER
@pytest.mark.skipif(not shutil.which("go"), reason="no Go here")
def test_go_program_writes_the_history(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(SHOWN["go"].text)
    # The first run compiles the standard library of Go.
    done = subprocess.run(
        ["go", "run", "main.go"], capture_output=True, text=True, cwd=tmp_path, timeout=280
    )
    assert done.returncode == 0, done.stderr
    check_output(done.stdout, tmp_path)
