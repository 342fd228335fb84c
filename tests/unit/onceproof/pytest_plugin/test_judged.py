"""Runs and verdicts in tests, with made-up commands in the place of `onceproof`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from onceproof.pytest_plugin import judged as judged_module
from onceproof.pytest_plugin.judged import NotJudged, VerdictError, scenario, verify
from onceproof.pytest_plugin.options import Options
from tests.unit.onceproof.pytest_plugin.commands import python
from tests.unit.onceproof.pytest_plugin.test_verdict import claim, report

Instead = Callable[[Callable[..., list[str]]], None]


class Command:
    """Stands in for `onceproof`: prints where the report lies."""

    def __init__(self, folder: Path, told: dict[str, Any], code: int) -> None:
        (folder / "report.json").write_text(json.dumps(told))
        self.words: tuple[str, ...] = ()
        self._code = f"import sys; print('report   {folder}/report.html'); sys.exit({code})"

    def __call__(self, *words: str) -> list[str]:
        self.words = words
        return python(self._code)


def run_of(told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "verdict": "holds", "run": {"scenario": "idempotent", "seed": 3}}


def options(out: Path, seed: int | None = None) -> Options:
    return Options(out=out, backend="local", seed=seed)


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch) -> Instead:
    """Have the plugin start what a function makes of `onceproof`'s arguments."""
    return partial(monkeypatch.setattr, judged_module, "command")


@pytest.fixture
def good(instead: Instead, tmp_path: Path) -> Command:
    command = Command(tmp_path, run_of(report(claim("holds", expected=True))), 0)
    instead(command)
    return command


def test_a_scenario_as_expected(good: Command, tmp_path: Path) -> None:
    judged = scenario(options(tmp_path), "idempotent", seed=3)
    judged.check()
    assert judged.verdicts == {"exactly-once a → b": "holds"}
    assert judged.properties() == {
        "scenario": "idempotent",
        "seed": "3",
        "verdict": "holds",
        "expected": "True",
        "report": str(tmp_path / "report.html"),
    }
    words = f"run idempotent --seed 3 --out {tmp_path} --backend local"
    assert " ".join(good.words) == words


def test_the_seed_of_the_command_line_wins(good: Command, tmp_path: Path) -> None:
    scenario(options(tmp_path, seed=9), "idempotent", seed=3)
    assert good.words[2:4] == ("--seed", "9")


def test_a_pipeline_of_ones_own(good: Command, tmp_path: Path) -> None:
    verify(options(tmp_path, seed=9), ("--input", "orders", "--out", "x", "--", "run.sh"))
    assert " ".join(good.words) == "verify --seed 9 --input orders --out x -- run.sh"


def test_options_of_the_pipeline_are_not_ours(good: Command, tmp_path: Path) -> None:
    pipeline = ("--", "run.sh", "--out", "y", "--seed", "4")
    verify(options(tmp_path, seed=9), ("--out=x", *pipeline))
    assert " ".join(good.words) == "verify --seed 9 --out=x -- run.sh --out y --seed 4"


def test_a_verdict_is_an_assertion(instead: Instead, tmp_path: Path) -> None:
    told = run_of(report(claim("violated", expected=False)))
    instead(Command(tmp_path, told, 1))
    with pytest.raises(VerdictError, match=r"(?s)violated.*p0-0 has 0 of 1 effects"):
        scenario(options(tmp_path), "idempotent").check()
    assert issubclass(VerdictError, AssertionError)


def test_no_verdict_has_the_last_words(instead: Instead, tmp_path: Path) -> None:
    said = "import sys; sys.exit('onceproof: there is no scenario «x»')"
    instead(lambda *_: python(said))
    with pytest.raises(NotJudged, match=r"(?s)exit code 1 and no verdict.*no scenario «x»"):
        scenario(options(tmp_path), "x")
