"""The page on continuous integration: its commands and exit codes exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from onceproof.checkers.model import Verdict
from onceproof.checkers.verdict import code_of_unexpected
from onceproof.cli import app

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "run-in-ci.md").read_text()
COMMANDS = re.findall(r"^\s*(?:- )?(onceproof [a-z]+ --.*)$", PAGE, re.MULTILINE)
ROOT = typer.main.get_command(app)


def test_page_has_three_commands() -> None:
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("line", COMMANDS)
def test_options_exist(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    before_command = arguments[: arguments.index("--")] if "--" in arguments else arguments
    command = ROOT.commands[name]  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts}
    used = {word for word in before_command if word.startswith("--")}
    assert used
    assert used <= known


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.VIOLATED, Verdict.INVALID], 1),
        ([Verdict.INVALID], 3),
        ([Verdict.STALLED], 4),
        ([Verdict.UNKNOWN], 5),
        ([Verdict.UNEXERCISED], 5),
        ([], 0),
    ],
)
def test_exit_codes_match_the_table(verdicts: list[Verdict], code: int) -> None:
    assert code_of_unexpected(verdicts) == code
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {code} |"))
    assert all(f"`{v}`" in row or v is Verdict.VIOLATED or v is Verdict.INVALID for v in verdicts)
