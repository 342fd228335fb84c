"""`onceproof cost` before it starts anything, and its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.commands import cost as command
from onceproof.harness.cost.producers import PLAIN_AGAIN
from onceproof.harness.cost.ways import Setup
from tests.unit.harness.cost.made import RATES
from tests.unit.reports.cost.test_page import report


def test_unknown_target_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = command.cost(
        ["java", "sarama"], Setup(), rounds=10, seconds=1, grid=False, seed=1,
        out=tmp_path / "runs",
    )  # fmt: skip
    assert code == 2
    assert "sarama: expected one of librdkafka, java, transform" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (["app {bootstrap} {input} {output}"], "--base and --other go together"),
        (["app", "app"], "has no {bootstrap}, {input}, {output}"),
    ],
)
def test_own_commands_are_checked_first(
    own: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.cost(
        [], Setup(), own=own, rounds=10, seconds=1, grid=False, seed=1, out=tmp_path / "runs"
    )
    assert code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_exit_code_tells_invalid_and_unresolved_measurements() -> None:
    assert command.exit_code(report("java", "streams").comparisons) == 0
    assert command.exit_code(report("java", noise=0.3, jitter=0.05).comparisons) == 5
    wrong = report("java", rates={**RATES, PLAIN_AGAIN: 1800.0}).comparisons
    assert command.exit_code((*report("streams").comparisons, *wrong)) == 3
