"""Generate the reference page of claims and verdicts.

`python -m onceproof.checkers.claims_page` prints `docs/reference/claims.md`, and a test compares
the two. The content comes from `fine_print` and `refutations`.
"""

from __future__ import annotations

import sys
from typing import Final

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.claims import ATOMIC
from onceproof.checkers.fine_print import standard_fine_print
from onceproof.checkers.model import Evidence, Hop, Verdict
from onceproof.checkers.refutations import GUARANTEES, HOPS, refutations, shown_with
from onceproof.checkers.verdict import code_of_unexpected

_STRETCH: Final = {
    Hop.PRODUCE: "application → topic",
    Hop.PROCESS: "topic → sink",
    Hop.END_TO_END: "application → sink",
}
_WRITTEN: Final = {
    Hop.PRODUCE: "{}:payments",
    Hop.PROCESS: "{}:payments->ledger@table",
    Hop.END_TO_END: "{}:producers->payments->ledger@table",
}
_WHEN: Final = {
    Verdict.VIOLATED: "a refuting anomaly is proven",
    Verdict.INVALID: (
        "the harness or the environment failed, the mutation self-check failed, or a required "
        "fault left no evidence"
    ),
    Verdict.STALLED: "progress did not resume after healing, or a transaction hangs",
    Verdict.UNKNOWN: (
        "the run was interrupted, an anomaly cannot be decided or could not show in this history, "
        "or the faults are outside the fine print"
    ),
    Verdict.UNEXERCISED: "no anomaly was found, but nothing happened that tests the claim",
    Verdict.HOLDS: (
        "no anomaly was found, the run settled and was collected, and the hazards were observed"
    ),
}
_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Claims and verdicts

A claim is a guarantee between two points, with its fine print: what is promised, under which
failures, and what is guaranteed when they happen ([what exactly-once can
mean](../explanation/what-exactly-once-can-mean.md)). Pass it to `onceproof check --claim` as
written below, in quotes because of the arrow. Options follow after commas: `deduplicates`,
`dead-letters=SINK` and `hazard=KIND`.

A scenario, or a pipeline with its own limits, may have other fine print; the report shows it.
"""


def page() -> str:
    parts = [_HEAD, *_verdicts(), *_failures()]
    for guarantee in GUARANTEES:
        parts += _section(guarantee)
    return "\n".join([*parts, *_table()]) + "\n"


def _verdicts() -> list[str]:
    lines = ["## Verdicts", "", "The first that applies ([how a verdict is reached]"]
    lines[-1] += "(../explanation/how-a-verdict-is-reached.md))."
    lines += ["", "| verdict | when | exit code if unexpected |", "| --- | --- | --- |"]
    for verdict in Verdict:
        code = code_of_unexpected([verdict])
        lines.append(f"| `{verdict}` | {_WHEN[verdict]} | {code} |")
    return [
        *lines,
        "",
        "The exit code is 0 if every claim is as expected, 2 after a usage error and 130 after an "
        "interrupt. `holds` is unexpected for a broken twin, which must be caught.",
        "",
    ]


def _failures() -> list[str]:
    prints = {standard_fine_print(g, h).failures for g in GUARANTEES for h in _hops(g)}
    (failures,) = prints
    return ["## Failures that the standard fine print covers", "", failures, ""]


def _section(guarantee: str) -> list[str]:
    hops = _hops(guarantee)
    condition = standard_fine_print(guarantee, hops[0]).guarantee
    lines = [f"## {guarantee}", "", f"*When these failures happen:* {condition}", ""]
    for hop in hops:
        terms = standard_fine_print(guarantee, hop)
        refuting = ", ".join(
            _link(name) for name in anomalies() if name in refutations(guarantee, hop)
        )
        lines += [
            f"### {guarantee}, {_STRETCH[hop]}",
            "",
            f"{terms.promise}",
            "",
            f"* Written as `{_WRITTEN[hop].format(guarantee)}{_other(guarantee, hop)}`",
            f"* Refuted by {refuting}",
            f"* Not tested: {terms.not_tested}",
            "",
        ]
    if others := sorted(shown_with(guarantee)):
        names = ", ".join(_link(name) for name in others)
        lines += [f"Shown with the claim, without refuting it: {names}.", ""]
    return lines


def _other(guarantee: str, hop: Hop) -> str:
    """Return the notation of a second sink, for claims that cover several."""
    return "+events@topic" if guarantee == ATOMIC and hop is Hop.PROCESS else ""


def _table() -> list[str]:
    lines = [
        "## Which anomaly refutes what",
        "",
        "*stalls*: the anomaly makes the verdict of every claim `stalled`. *shown*: the anomaly is "
        "shown with the claim, because it may explain another one.",
        "",
    ]
    lines += [f"| anomaly | {' | '.join(GUARANTEES)} |", "| --- " * (len(GUARANTEES) + 1) + "|"]
    for name in anomalies():
        cells = [_cell(name, guarantee) for guarantee in GUARANTEES]
        lines.append(f"| {_link(name)} | {' | '.join(cells)} |")
    return lines


def _cell(name: str, guarantee: str) -> str:
    if any(name in refutations(guarantee, hop) for hop in _hops(guarantee)):
        return "refutes"
    if anomalies()[name].evidence is Evidence.LIVENESS:
        return "stalls"
    return "shown" if name in shown_with(guarantee) else ""


def _hops(guarantee: str) -> list[Hop]:
    return [hop for hop in Hop if hop in HOPS.get(guarantee, frozenset(Hop))]


def _link(name: str) -> str:
    return f"[{name}](anomalies.md#{name.lower()})"


if __name__ == "__main__":
    sys.stdout.write(page())
