"""`onceproof cost` before it starts anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.commands import cost as command


def test_unknown_client_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = command.cost(
        ["java", "sarama"], rounds=10, seconds=1, size=100, partitions=1, commit_every=0.1,
        linger=0, seed=1, out=tmp_path / "runs",
    )  # fmt: skip
    assert code == 2
    assert "--client sarama: expected librdkafka or java" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_measurement_without_whole_transactions_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.cost(
        [], rounds=10, seconds=1, size=100, partitions=1, commit_every=1.0, linger=0, seed=1,
        out=tmp_path / "runs",
    )  # fmt: skip
    assert code == 2
    assert "a commit every 1000 ms needs --seconds 5 or more" in capsys.readouterr().err
