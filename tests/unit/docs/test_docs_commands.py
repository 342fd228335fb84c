"""Each command in the documentation is valid: the real command line parses it.

Nothing is executed here; `carried_out` says where each command is.
"""

from __future__ import annotations

import re
import subprocess

import pytest

from onceproof.shell.dots import HELP
from tests.unit.docs.carried_out import ELSEWHERE, SHELLS, is_typed, lines
from tests.unit.docs.command_lines import wrong, wrong_in_a_sentence
from tests.unit.docs.pages import ROOT, Block, blocks, inline_commands, typed

SHELL = [block for block in blocks() if block.language in SHELLS]
TYPED = [(str(block), line) for block in SHELL for line in typed(block) if line.strip()]


def test_documentation_has_many_commands() -> None:
    assert len(TYPED) > 50
    assert len(inline_commands()) > 50


@pytest.mark.parametrize(("place", "line"), TYPED, ids=[f"{p} {line}" for p, line in TYPED])
def test_line_to_type_is_valid(place: str, line: str) -> None:
    assert wrong(line) == [], place


def test_commands_in_sentences_are_valid() -> None:
    problems = {
        f"{page}: {command}": found
        for page, command in inline_commands()
        if (found := wrong_in_a_sentence(command))
    }
    assert problems == {}


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_bash_parses_the_block(block: Block) -> None:
    lines = "\n".join(typed(block))
    # A placeholder such as <folder> would be a redirection.
    script = re.sub(r"<(\w+)>", r"\1", lines)
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""


def test_dot_commands_exist() -> None:
    known = {words.split()[0] for words in HELP}
    used = [
        word
        for block in SHELL
        for word in re.findall(r"^onceproof> (\.\w+)", block.text, re.MULTILINE)
    ]
    assert used
    assert set(used) <= known


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("onceproof rnu", "there is no onceproof rnu"),
        ("onceproof run spark-kafka-snik", "there is no scenario spark-kafka-snik"),
        ("onceproof run --sede 4", "--sede"),
        ("onceproof list nothing-of-the-kind", "no scenario has"),
        ("onceproof fault kil broker-2", "kil"),
        ("onceproof fault kill nobody", "nobody"),
        ("onceproof explain lost-wirte", "there is no anomaly"),
        ("onceproof verify --output out -- job {bootstap}", "mean nothing"),
        ("onceproof verify --output mysql:x -- job", "invalid output"),
        ("onceproof verify --output x --preset cruel -- job", "cruel"),
        ("onceproof check h.jsonl --claim twice:payments", "claims no guarantee"),
        ("onceproof config shwo", "there is no onceproof shwo"),
        ("make tset", "there is no make tset"),
        ("make soak RUN=3", "make knows no RUN"),
        ('make matrix ARGS="--backnd local"', "--backnd"),
        ("onceprof run", "a program that no test knows"),
    ],
)
def test_invalid_line_is_reported(line: str, message: str) -> None:
    (found,) = wrong(line)
    assert message in found


@pytest.mark.parametrize(
    "command",
    ["onceproof rnu", "onceproof run --sede 4", "onceproof list no-such", "make tset",
     "onceproof fault kil broker-2"],
)  # fmt: skip
def test_invalid_command_in_a_sentence_is_reported(command: str) -> None:
    assert wrong_in_a_sentence(command)


def is_elsewhere(line: str) -> bool:
    return any(re.fullmatch(pattern, line) for pattern in ELSEWHERE)


def test_each_line_is_executed_somewhere() -> None:
    assert [line for _, line in lines() if not is_typed(line) and not is_elsewhere(line)] == []


@pytest.mark.parametrize("pattern", ELSEWHERE)
def test_entry_of_elsewhere_exists_and_is_needed(pattern: str) -> None:
    where = ELSEWHERE[pattern]
    assert (ROOT / where).exists() or " " in where
    assert any(re.fullmatch(pattern, line) for _, line in lines())
