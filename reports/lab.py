"""Print the current state of a lab, from the answer of its `GET /status`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from onceproof.reports.terminal import console
from onceproof.reports.text import line

_CLEAR = "\x1b[H\x1b[2J"


def print_status(lab: str, status: Mapping[str, Any], out: TextIO, *, anew: bool = False) -> None:
    """Print nodes, partitions, disturbed links, faults and progress; `anew` clears the terminal."""
    to = console(out)
    if anew and to.is_terminal:
        out.write(_CLEAR)
    to.print(_status_view(lab, status))


def _status_view(lab: str, status: Mapping[str, Any]) -> RenderableType:
    head = Text(f"lab {line(lab)}", style="bold")
    if work := status["workload"]:
        head.append(
            f"   {work['acknowledged']:,} of {work['records']:,} records acknowledged",
            style="default",
        )
    if pipeline := status["pipeline"]:
        how_far = line(pipeline["progress"] or "nothing committed yet")
        head.append(f", pipeline {line(pipeline['state'])}, {how_far}", style="default")
    nodes = Text()
    for name, state in status["nodes"].items():
        style = "green" if state == "up" else "bold red"
        nodes.append(f"{line(name)} {line(state)}   ", style=style)
    return Group(head, nodes, _partitions(status["partitions"]), _links_and_faults(status))


def _partitions(partitions: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title in ("partition", "leader", "in sync", "out of sync", "conflicts"):
        table.add_column(title, overflow="fold")  # wrap in narrow terminals, do not truncate
    for p in partitions:
        missing = sorted(set(p["replicas"]) - set(p["in_sync"]))
        dissent = ", ".join(
            f"{line(broker)} reports {line(leader or 'none')}"
            for broker, leader in p["dissent"].items()
        )
        table.add_row(
            f"{line(p['topic'])}-{p['partition']}",
            Text(line(p["leader"] or "none"), style="default" if p["leader"] else "bold red"),
            " ".join(map(str, p["in_sync"])),
            Text(" ".join(map(str, missing)), style="yellow"),
            Text(dissent, style="yellow"),
        )
    return table


def _links_and_faults(status: Mapping[str, Any]) -> Text:
    text = Text()
    for link, what in status["links"].items():
        text.append(f"link {line(link)}: {line(what)}\n", style="yellow")
    for fault in status["faults"]:
        style = "default" if fault["state"] == "healed" else "red"
        text.append(f"{line(fault['name'])}: {line(fault['state'])}", style=style)
        text.append(f": {line(fault['detail'])}\n")
    if not status["faults"]:
        text.append("no faults yet\n")
    text.rstrip()
    return text
