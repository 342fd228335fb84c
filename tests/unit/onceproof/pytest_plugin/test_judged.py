"""Runs and verdicts in tests, with fake commands instead of `onceproof`."""

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

ReplaceCommand = Callable[[Callable[..., list[str]]], None]


class FakeCommand:
    """Replaces `onceproof`: prints the path of the report."""

    def __init__(self, folder: Path, content: dict[str, Any], code: int) -> None:
        (folder / "report.json").write_text(json.dumps(content))
        self.arguments: tuple[str, ...] = ()
        self._code = f"import sys; print('report   {folder}/report.html'); sys.exit({code})"

    def __call__(self, *arguments: str) -> list[str]:
        self.arguments = arguments
        return python(self._code)


def report_of_run(content: dict[str, Any]) -> dict[str, Any]:
    return {**content, "verdict": "holds", "run": {"scenario": "idempotent", "seed": 3}}


def options(out: Path, seed: int | None = None) -> Options:
    return Options(out=out, backend="local", seed=seed)


@pytest.fixture
def replace_command(monkeypatch: pytest.MonkeyPatch) -> ReplaceCommand:
    """Replace the function that builds the command from onceproof's arguments."""
    return partial(monkeypatch.setattr, judged_module, "command")


@pytest.fixture
def good(replace_command: ReplaceCommand, tmp_path: Path) -> FakeCommand:
    command = FakeCommand(tmp_path, report_of_run(report(claim("holds", expected=True))), 0)
    replace_command(command)
    return command


def test_expected_scenario_passes(good: FakeCommand, tmp_path: Path) -> None:
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
    arguments = f"run idempotent --seed 3 --out {tmp_path} --backend local"
    assert " ".join(good.arguments) == arguments


def test_command_line_seed_overrides_argument(good: FakeCommand, tmp_path: Path) -> None:
    scenario(options(tmp_path, seed=9), "idempotent", seed=3)
    assert good.arguments[2:4] == ("--seed", "9")


def test_verify_runs_the_given_pipeline(good: FakeCommand, tmp_path: Path) -> None:
    verify(options(tmp_path, seed=9), ("--input", "orders", "--out", "x", "--", "run.sh"))
    assert " ".join(good.arguments) == "verify --seed 9 --input orders --out x -- run.sh"


def test_versions_are_passed_on(good: FakeCommand, tmp_path: Path) -> None:
    chosen = Options(out=tmp_path, backend="local", seed=9, versions=("kafka=3.9.2",))
    scenario(chosen, "idempotent")
    assert good.arguments[-2:] == ("--with", "kafka=3.9.2")
    verify(chosen, ("--input", "orders", "--", "run.sh"))
    assert "--with kafka=3.9.2 --input orders --" in " ".join(good.arguments)
    verify(chosen, ("--with", "kafka=4.0.1", "--", "run.sh"))
    assert "kafka=3.9.2" not in good.arguments


def test_options_of_the_pipeline_are_passed_on(good: FakeCommand, tmp_path: Path) -> None:
    pipeline = ("--", "run.sh", "--out", "y", "--seed", "4")
    verify(options(tmp_path, seed=9), ("--out=x", *pipeline))
    assert " ".join(good.arguments) == "verify --seed 9 --out=x -- run.sh --out y --seed 4"


def test_violated_scenario_fails_as_an_assertion(
    replace_command: ReplaceCommand, tmp_path: Path
) -> None:
    content = report_of_run(report(claim("violated", expected=False)))
    replace_command(FakeCommand(tmp_path, content, 1))
    with pytest.raises(VerdictError, match=r"(?s)violated.*p0-0 has 0 of 1 effects"):
        scenario(options(tmp_path), "idempotent").check()
    assert issubclass(VerdictError, AssertionError)


def test_missing_verdict_reports_last_output(
    replace_command: ReplaceCommand, tmp_path: Path
) -> None:
    code = "import sys; sys.exit('onceproof: there is no scenario «x»')"
    replace_command(lambda *_: python(code))
    with pytest.raises(NotJudged, match=r"(?s)exit code 1 and no verdict.*no scenario «x»"):
        scenario(options(tmp_path), "x")
