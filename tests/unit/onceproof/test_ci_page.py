"""The page on continuous integration: its commands are commands, its exit codes those there are."""

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


def test_there_are_some() -> None:
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("line", COMMANDS)
def test_every_option_is_one(line: str) -> None:
    _, name, *words = shlex.split(line)
    own = words[: words.index("--")] if "--" in words else words
    command = ROOT.commands[name]  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts}
    asked = {word for word in own if word.startswith("--")}
    assert asked
    assert asked <= known


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
def test_the_exit_codes_are_those_of_the_table(verdicts: list[Verdict], code: int) -> None:
    assert code_of_unexpected(verdicts) == code
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {code} |"))
    assert all(f"`{v}`" in row or v is Verdict.VIOLATED or v is Verdict.INVALID for v in verdicts)
