"""Generate the reference page of all faults, and of the targets that each accepts."""

from __future__ import annotations

import sys
from typing import Final

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.by_hand import ByHand, asked, by_hand
from onceproof.harness.faults.targets.base import VERBS, Victim
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.faults.victims import victims
from onceproof.harness.faults.words import UnknownFault

TARGET: Final = "TARGET"
ROLES: Final = {
    "`broker-2`": "broker-2",
    "leader": "leader:payments-0",
    "follower": "follower:payments-0",
    "group coordinator": "coordinator:group:billing",
    "transaction coordinator": "coordinator:txn:tx-7",
    "controller": "controller",
    "placed apart": "leader:payments-0/not/controller",
    "postgres": "postgres",
}
"""Kind of target → an example of it."""
_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Faults

You can inject each by hand (`onceproof fault …`, see
[break it by hand](../how-to/break-it-by-hand.md)) or put it into a schedule. A claim's fine print
names kinds of faults; the standard kinds leave out `surgery`, which changes state that a pipeline
trusts. Stages of processes and of containers offer what a fault needs, except that containers have
no `gates`, `queues` or `http`. Your own cluster offers what its file has commands for. A bare lab
has no `driver`. A fault that needs nothing does only what any client could do. It works on your own
cluster too, where nothing undoes it.

SOURCE is an audience (`producer`, `pipeline`, `pipeline-sink`) or a broker; WAY is `requests` or
`responses`.
"""
_VICTIMS: Final = """
## What can be killed, stopped and paused

A broker by any of its roles, or one of these. `--at WINDOW` waits for that moment in its work;
without it the fault acts at once.

"""
_TABLE: Final = """
## Targets of each fault

«own»: the fault chooses what it acts on.
"""


def cell(entry: ByHand, role: str) -> list[str] | None:
    """Return the words that aim a fault at a role; None if it does not accept the role."""
    words = entry.example.split()[1:]
    places = [n for n, takes in enumerate(entry.takes) if takes.startswith(TARGET)]
    if not places:
        return None
    words[places[0]] = role
    try:
        asked(entry.name, words)
    except UnknownFault:
        return None
    return words


def page() -> str:
    entries = by_hand().values()
    lines = [_HEAD, *_header("fault", "does", "kind", "needs", "for example")]
    lines += [_described(entry) for entry in entries]
    lines += [_VICTIMS.rstrip(), "", *_header("target", *VERBS, "windows")]
    kinds: tuple[type[Victim], ...] = (LeaderOf, *victims())
    lines += map(_victim, kinds)
    lines += [_TABLE, *_header("fault", "own", *ROLES)]
    for entry in entries:
        cells = ["x" if cell(entry, role) else "" for role in ROLES.values()]
        own = "" if any(cells) else "x"
        lines.append(f"| {entry.name} | {' | '.join([own, *cells])} |")
    return "\n".join([*lines, ""])


def _victim(kind: type[Victim]) -> str:
    verbs = " | ".join("x" if verb in kind.verbs() else "" for verb in VERBS)
    windows = "; ".join(
        f"{verb}: {', '.join(f'`{name}`' for name in names)}"
        for verb, names in kind.windows.items()
    )
    return f"| {_written(kind)} | {verbs} | {windows} |"


def _written(kind: type[Victim]) -> str:
    if issubclass(kind, LeaderOf):
        return "a broker; `ahead-of-followers` only as `leader:…`"
    return ", ".join(f"`{word}`" for word in kind.written.split(", "))


def _header(*columns: str) -> list[str]:
    return [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]


def _described(entry: ByHand) -> str:
    fault: Fault = asked(entry.name, entry.example.split()[1:])
    usage = entry.usage.replace("|", "\\|")
    needs = fault.needs or "nothing"
    return f"| `{usage}` | {entry.says} | {fault.kind} | {needs} | `{entry.example}` |"


if __name__ == "__main__":
    sys.stdout.write(page())
