"""Compare two commands of the user: the base, such as without exactly-once, and the other."""

from __future__ import annotations

import json
import shlex
from functools import partial
from typing import Final

from onceproof.harness.cost.pairs import pipelines
from onceproof.harness.cost.ways import (
    Comparison,
    Fed,
    Setup,
    Where,
    source_of,
    topic_of,
)
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.placeholders import fill, words

NAME: Final = "own"
BASE, AGAIN, OTHER = "base", "base-again", "other"
IDENTITY: Final = "{id}"
"""Where the identity goes in a template of values."""
ORDER: Final = json.dumps({
    "order_id": IDENTITY, "customer": "customer-00000", "item": "lamp", "quantity": 2,
    "amount_cents": 1999,
})  # fmt: skip
"""An order, as `onceproof verify` generates them."""
KEYS: Final = 64
_NEEDED: Final = ("bootstrap", "input", "output")
_WORDS: Final = (*_NEEDED, "group", "client_id", "work")


def comparison_of(base: str, other: str, template: str, setup: Setup) -> Comparison:
    """Return the comparison of two commands, which have placeholders as in `onceproof verify`.

    Args:
        template: a value of the input; its `{id}` must be in the value of the output.

    Raises:
        BadRule: a placeholder is missing or unknown, or the template has no `{id}`.
    """
    before, found, after = template.partition(IDENTITY)
    fed = Fed(around=(before, after), keys=KEYS)
    setup = fed.setup(setup, ())
    if not found:
        raise BadRule(f"--value {template!r} has no {IDENTITY}: where does a record's identity go?")
    for command in (base, other):
        _check(command)

    starts = {BASE: base, AGAIN: base, OTHER: other}
    return pipelines(
        NAME,
        setup,
        {name: partial(_start, f"{NAME}-{name}", command) for name, command in starts.items()},
        fed=fed,
        answers=False,
    )


def _check(command: str) -> None:
    try:
        shlex.split(command)
    except ValueError as error:
        raise BadRule(f"{command!r}: {error}") from None
    fill(command, dict.fromkeys(_WORDS, ""))
    if missing := [word for word in _NEEDED if word not in words(command)]:
        told = ", ".join(f"{{{word}}}" for word in missing)
        raise BadRule(
            f"{command!r} has no {told}: each program is measured on topics of its own, so its "
            "command must take them"
        )


def _start(key: str, command: str, where: Where, name: str) -> Process:
    work = where.work / key
    work.mkdir(exist_ok=True)
    meanings = {
        "bootstrap": where.bootstrap,
        "input": source_of(key),
        "output": topic_of(key),
        "group": key,
        "client_id": key,
        "work": str(work),
    }
    words = [fill(word, meanings) for word in shlex.split(command)]
    try:
        return where.processes.start(name, words)
    except OSError as error:
        raise StageTrouble(f"{words[0]} cannot be started: {error.strerror}") from None
