"""What was measured, as a page of the documentation and as lines for a terminal."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from onceproof.harness.tools.versions import host
from onceproof.reports.text import plural, seconds
from tests.power.catalogue import Pair
from tests.power.trial import Result, Trial, code

Told = Sequence[tuple[Trial, Result]]

_HEAD = """<!-- Made by `make power`; do not edit. -->

# Power: known faults, and who catches them

{count} of {all} small pipelines in the forms that people write, each with one known fault, and each
with a mended twin (`tests/power/pairs`), put on trial by `onceproof verify`, as a user types it.
A broken one must come out `violated`, by an anomaly that its fault makes; a mended one must hold.
Those called `own-…` are twins of our own scenarios, as far as they can be run as commands.
"""


def line(trial: Trial, result: Result) -> str:
    """A trial in a line."""
    mark = "  " if result.right(trial) else "! "
    came_to = " ".join(filter(None, (result.verdict, _found(result), _by(result))))
    why = "" if result.right(trial) else f" | {result.why}"
    return f"{mark}{trial.name:<50} {result.seconds:5.0f} s  {came_to}{why}"


def summary(told: Told) -> str:
    """How many came out as they deserve."""
    kinds = [
        (variant, [(t, r) for t, r in told if t.variant == variant])
        for variant in ("broken", "mended")
    ]
    words = [
        f"{sum(r.right(t) for t, r in those)} of {plural(len(those), 'trial')} of {variant} ones"
        for variant, those in kinds
    ]
    return f"as they deserve: {', '.join(words)}"


def page(told: Told, missing: Mapping[str, str], there: int) -> str:
    """The page, of all that was made.

    Args:
        told: trials with their results, by pair.
        missing: pairs that could not be tried here, and why.
        there: how many pairs there are.
    """
    by_pair = [(pair, list(those)) for pair, those in groupby(told, key=lambda each: each[0].pair)]
    took = [result.seconds for _, result in told]
    machine = ", ".join(f"{name} {value}" for name, value in host().items())
    facts = [
        f"* {_counted(told, 'broken')} caught, {_counted(told, 'mended')} hold.",
        f"* {_by_code(told)}",
        f"* A trial took {seconds(statistics.median(took))} in the median, "
        f"{seconds(max(took))} at most."
        if took
        else "* Nothing was tried.",
        f"* Machine: {machine}.",
        *(f"* Left out: {name}: {why}." for name, why in missing.items()),
    ]
    rows = [_row(pair, those) for pair, those in by_pair]
    head = "| fault | what is wrong | form | claim | broken: verdict, by what | mended | seconds |"
    table = [head, "| --- | --- | --- | --- | --- | --- | --- |", *rows]
    odd = [
        f"* `{t.name}`: {r.verdict}: {r.why}" for t, r in told if not r.right(t)
    ]  # they are what the page is for
    parts = [_HEAD.format(count=len(by_pair), all=there), "\n".join(facts), "\n".join(table)]
    if odd:
        parts.append("## Not as they deserve\n\n" + "\n".join(odd))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _row(pair: Pair, told: Told) -> str:
    cells = [
        f"`{pair.name}`",
        pair.sentence,
        pair.form,
        pair.claim,
        _cell((t, r) for t, r in told if t.variant == "broken"),
        _cell((t, r) for t, r in told if t.variant == "mended"),
        " / ".join(f"{r.seconds:.0f}" for _, r in told),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(told: Iterable[tuple[Trial, Result]]) -> str:
    return "<br>".join(
        " ".join(
            filter(
                None,
                (
                    "✓" if result.right(trial) else "✗",
                    f"{result.verdict}",
                    _found(result),
                    _by(result),
                    f"({trial.preset}, seed {trial.seed})",
                ),
            )
        )
        for trial, result in told
    )


def _found(result: Result) -> str:
    return ", ".join(f"{name} ({count})" for name, count in result.anomalies.items())


def _by(result: Result) -> str:
    return f"behind {', '.join(result.caught_by)}" if result.caught_by else ""


def _counted(told: Told, variant: str) -> str:
    those = [result.right(trial) for trial, result in told if trial.variant == variant]
    return f"{sum(those)} of {plural(len(those), f'{variant} one')}"


def _by_code(told: Told) -> str:
    """How many were made by the code that is there now."""
    now = sum(result.key[-1] == code() for _, result in told)
    rest = len(told) - now
    return f"{plural(now, 'trial')} by code `{code()}`, {rest} by the code of their day."
