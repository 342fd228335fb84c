"""`onceproof diff`: arguments, output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onceproof.checkers import History
from onceproof.cli import app
from tests.end_to_end.command import onceproof
from tests.unit.checkers.imports.histories import edn

LOST = """
0 ok send [[:send 5 [0 1]]]
0 ok send [[:send 5 [1 2]]]
0 ok send [[:send 5 [2 3]]]
9 * assign [5] | :seek-to-beginning? true
9 invoke poll [[:poll]]
9 ok poll [[:poll {5 [[0 1] [2 3]]}]]
"""
FOUND = LOST.replace("[[0 1] [2 3]]", "[[0 1] [1 2] [2 3]]")


def run(*arguments: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["diff", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def judgement(folder: Path, name: str, history: str, *options: str) -> Path:
    """Judge a Jepsen history with `onceproof check --json`."""
    (path := folder / f"{name}.edn").write_text(edn(history))
    file = folder / f"{name}.json"
    CliRunner().invoke(app, ["check", str(path), "--json", str(file), *options])
    return file


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    return judgement(tmp_path, "lost", LOST)


@pytest.fixture
def found(tmp_path: Path) -> Path:
    return judgement(tmp_path, "found", FOUND)


def test_new_anomaly_is_reported_by_the_real_command(
    lost: Path, found: Path, tmp_path: Path
) -> None:
    done = onceproof("diff", found, lost, "--html", tmp_path / "d.html", "--json", tmp_path / "d")
    assert done.code == 1
    assert done.err == ""
    assert "lost-write in jepsen: perhaps new, 0 → 1" in done.out
    assert json.loads((tmp_path / "d").read_text())["outcome"] == "something new"
    assert "lost-write" in (tmp_path / "d.html").read_text()


def test_anomaly_that_is_perhaps_gone_is_undecided(lost: Path, found: Path) -> None:
    """The run without findings did not exercise the claim."""
    code, out, _ = run(lost, found)
    assert code == 5
    assert "lost-write in jepsen: perhaps gone, 1 → 0" in out


def test_equal_judgements_have_nothing_new(lost: Path) -> None:
    code, out, _ = run(lost, lost)
    assert code == 0
    assert "lost-write in jepsen: still there, 1 → 1" in out
    assert "by anomaly and place" in out
    assert "a judgement does not contain them" in " ".join(out.split())


def test_by_option_selects_the_comparison(lost: Path) -> None:
    assert "1 still there: 5/2" in run(lost, lost, "--by", "record")[1]
    assert "by anomaly and place" in run(lost, lost, "--by", "anomaly")[1]
    code, _, err = run(lost, lost, "--by", "luck")
    assert code == 2
    assert "expected record or anomaly" in err


def test_unrelated_claims_are_not_compared(lost: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    History.of(
        log=[{"topic": "other", "partition": 0, "offset": 0, "kind": "data", "record": "a"}],
        phases=[{"phase": p, "outcome": "ok"} for p in ("settle", "collect")],
    ).save(other)
    file = tmp_path / "other.json"
    CliRunner().invoke(
        app, ["check", str(other), "--claim", "exactly-once:other", "--json", str(file)]
    )
    code, out, _ = run(lost, file)
    assert code == 3
    assert "cannot be compared: their claims have no topic and no sink in common" in out


def test_unreadable_and_unwritable_paths_are_reported(lost: Path, tmp_path: Path) -> None:
    code, _, err = run(lost, tmp_path / "nowhere")
    assert code == 2
    assert "does not exist. Give a run folder" in err
    code, _, err = run(lost, lost, "--json", tmp_path / "no/such/folder/d.json")
    assert code == 3
    assert "No such file or directory" in err
