"""The command `onceproof matrix`, with the smallest scenario there is."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.end_to_end.command import Finished, Started, onceproof

COMMAND = ("matrix", "control-nothing-sent", "--backend", "local", "--seed", "3")


def matrix(runs: Path) -> Finished:
    return onceproof(*COMMAND, "--out", runs)


def test_what_was_broken_off_is_run_and_what_was_run_is_not_run_again(tmp_path: Path) -> None:
    started = Started(*COMMAND, "--out", tmp_path)
    started.wait_for(r"^started  control-nothing-sent-local")
    started.send(signal.SIGINT)
    broken_off = started.finish()
    assert broken_off.code == 130, broken_off.err
    assert "0 of 1 run as expected, 1 not run" in (tmp_path / "matrix.html").read_text()
    assert started.processes() == []

    first = matrix(tmp_path)
    assert first.code == 0, first.err
    assert "ended    control-nothing-sent-local: as expected" in first.err
    page = (tmp_path / "matrix.html").read_text()
    assert "One run, as expected" in page
    (report,) = set(re.findall(r'href="([^"#]+)"', page))
    assert (tmp_path / report).is_file()
    assert "✓ invalid (exactly-once payments → ledger)" in (tmp_path / "matrix.md").read_text()

    second = matrix(tmp_path)
    assert second.code == 0, second.err
    assert f"reused   control-nothing-sent on local: {tmp_path / report}" in second.err
    assert "started" not in second.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "no scenario has «nonsense» in its name"),
        (["--backend", "external:mine.toml"], "expected local or docker"),
    ],
)
def test_what_there_is_not_is_a_usage_error(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = onceproof("matrix", *arguments, "--out", tmp_path)
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())
