"""The command `onceproof matrix` with the smallest scenario."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Finished, Started, onceproof

COMMAND = ("matrix", "control-nothing-sent", "--backend", "local", "--seed", "3")


def matrix(runs: Path) -> Finished:
    return onceproof(*COMMAND, "--out", runs)


@LATER
def test_matrix_runs_interrupted_and_reuses_completed_scenarios(tmp_path: Path) -> None:
    started = Started(*COMMAND, "--out", tmp_path)
    started.wait_for(r"^started  control-nothing-sent-local")
    started.send(signal.SIGINT)
    interrupted = started.finish()
    assert interrupted.code == 130, interrupted.err
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
    ("arguments", "message"),
    [
        (["nonsense"], "no scenario has «nonsense» in its name"),
        (["--backend", "external:mine.toml"], "expected local or docker"),
    ],
)
def test_unknown_scenario_or_backend_is_a_usage_error(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = onceproof("matrix", *arguments, "--out", tmp_path)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())
