"""Problems of a documented command line: the real command parses it, without running it.

Names are looked up as well: scenarios, faults, anomalies, guarantees, outputs, placeholders, and
targets and variables of the Makefile.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import typer.main

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.refutations import GUARANTEES
from onceproof.cli import app
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.meanings import WORDS
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.placeholders import input_word
from onceproof.harness.user_pipeline.placeholders import words as in_braces
from onceproof.scenarios import all_scenarios
from onceproof.verify.inputs import inputs_of
from onceproof.verify.named_faults import by_name
from tests.unit.docs.pages import ROOT

OTHERS = {
    "curl",
    "docker",
    "git",
    "pip",
    "python3",
    "for",
    "do",
    "done",
    "trial/bin/pip",
    ".venv/bin/uv",
}
"""Other programs, for which only the shell syntax is checked."""
OF_A_PAGE = {"hang-up"}
"""A fault that a page adds."""
_MAKEFILE = (ROOT / "Makefile").read_text()
_ANYTHING = re.compile(r"…|\.\.\.|<|^[A-Z_|:]+$")
"""A placeholder."""


def wrong(line: str) -> list[str]:
    """All problems of a line to type."""
    words = shlex.split(line, comments=True)
    if "|" in words:
        words = words[: words.index("|")]
    while words and re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    if not words:
        return []
    if words[0] in ("onceproof", "trial/bin/onceproof"):
        return list(_onceproof(words[1:]))
    if words[0] == "make":
        return list(_make(words[1:]))
    return [] if words[0] in OTHERS else [f"{words[0]} is a program that no test knows"]


def wrong_in_a_sentence(command: str) -> list[str]:
    """All problems of a command in a sentence, which may be abbreviated."""
    words = shlex.split(command)
    if words[0] == "make":
        return list(_make(words[1:]))
    if words[1].startswith("-") or words[1] == "COMMAND":
        return [] if words[1] == "COMMAND" else list(_options(_root(), words[1:2]))
    if words[1] not in _root().commands:
        return [f"there is no onceproof {words[1]}"]
    command_ = _root().commands[words[1]]
    own = words[2 : words.index("--")] if "--" in words else words[2:]
    found = list(_options(command_, own))
    if not any(word.startswith("-") for word in own):
        found += _names(words[1], own)
    return found


@cache
def _root() -> Any:
    return typer.main.get_command(app)


def _options(command: Any, words: Sequence[str]) -> Iterator[str]:
    known = {"--help", *(option for each in command.params for option in each.opts)}
    # Options that typer adds on request.
    known |= {"--install-completion", "--show-completion"}
    for word in words:
        if word.startswith("--") and word.partition("=")[0] not in known:
            yield f"there is no option {word}"


def _onceproof(words: Sequence[str]) -> Iterator[str]:
    if words[0].startswith("-"):
        yield from _options(_root(), words[:1])
        return
    context = _root().make_context("onceproof", ["list"])
    group = _root()
    name, *rest = words
    if name == "config":
        group, (name, *rest) = group.commands[name], rest
    if name not in group.commands:
        yield f"there is no onceproof {name}"
        return
    try:
        given = group.commands[name].make_context(name, [*rest], parent=context).params
    except Exception as error:  # typer exports no base class of usage errors
        yield str(error)
        return
    if name == "verify":
        yield from _verify(given)
    for claim in given.get("claim") or () if name == "check" else ():
        if claim.partition(":")[0] not in GUARANTEES:
            yield f"{claim} claims no guarantee"
    positional = [given.get(key) for key in ("scenario", "words", "name", "anomaly")]
    yield from _names(
        name,
        [w for p in positional if p and p != "lab" for w in ([p] if isinstance(p, str) else p)]
        if name != "fault"
        else [w for w in (given["name"], *given["words"]) if w],
    )


def _names(command: str, words: Sequence[str]) -> Iterator[str]:
    """Unknown names among the arguments of a command."""
    if any(_ANYTHING.search(word) for word in words):
        return
    scenarios = [scenario.name for scenario in all_scenarios()]
    for word in words:
        known = word in scenarios or ".py:" in word  # a scenario of a file: FILE.py:NAME
        if command in ("run", "soak", "lab") and not known:
            yield f"there is no scenario {word}"
        if command in ("list", "matrix") and not any(word in name for name in scenarios):
            yield f"no scenario has {word} in its name"
        if command == "explain" and word not in anomalies():
            yield f"there is no anomaly {word}"
    if command == "fault" and words and words[0] not in OF_A_PAGE:
        try:
            asked(words[0], list(words[1:]))
        except UnknownFault as error:
            yield str(error)


def _verify(given: dict[str, Any]) -> Iterator[str]:
    inputs = given["input_"] or ["orders"]
    try:
        rules = inputs_of(inputs, {"identity": given["identity"] or []})
        for output in given["output"]:
            for one in rules:
                Output.parse(output, Rule.parse(one.identity))
        by_name(given.get("fault") or ())
    except (BadRule, UnknownFault) as error:
        yield str(error)
    for part in (*given["command"], *given["output"]):
        if odd := in_braces(part) - WORDS.keys() - {input_word(topic) for topic in inputs}:
            yield f"{odd} in braces mean nothing"


def _make(words: Sequence[str]) -> Iterator[str]:
    targets = set(re.findall(r"^([a-z-]+):.*?##", _MAKEFILE, re.MULTILINE))
    variables = set(re.findall(r"^([A-Z]+) \?=", _MAKEFILE, re.MULTILINE))
    wanted = [word for word in words if "=" not in word]
    for word in wanted:
        if word not in targets:
            yield f"there is no make {word}"
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name not in variables:
            yield f"make knows no {name}"
        if equals and name == "ARGS" and value:
            yield from _arguments(wanted[0], value)


def _arguments(target: str, value: str) -> Iterator[str]:
    recipe = _MAKEFILE.partition(f"\n{target}:")[2].partition("\n\n")[0]
    words = shlex.split(value)
    if ours := re.search(r"\(BIN\)/onceproof (\w+)", recipe):
        yield from _onceproof([ours[1], *words])
    elif module := re.search(r"\(BIN\)/python -m ([\w.]+)", recipe):
        inside = ("src",) if module[1].startswith("onceproof.") else ()
        place = ROOT.joinpath(*inside, *module[1].split("."))
        file = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
        for word in words:
            if word.startswith("--") and f'"{word}"' not in file.read_text():
                yield f"make {target} takes no {word}"
    else:
        yield f"nobody knows what make {target} takes"
