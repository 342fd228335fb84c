"""Explain a wrong verdict in the text of an assertion.

It has to fit one screen: the verdict and reason of each claim, and two witnesses of each anomaly.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_WITNESSES: Final = 2
_ADVICE: Final = {
    3: "The run is invalid and proves nothing. Run it again; if it is invalid again, see the "
    "report for the cause.",
    4: "The pipeline stalled. The report shows what it was waiting for.",
    5: "The claim was not decided. The report shows what was missing.",
}


def wrong(report: dict[str, Any], html: Path, exit_code: int, *, wanted: str) -> str:
    """Return what is wrong with a run; empty if nothing is.

    Args:
        html: the report to refer to.
        exit_code: of the command.
        wanted: `expected`, or the verdict that every claim must have.
    """
    if wanted == "expected":
        bad = [claim for claim in report["claims"] if claim["expected"] is not True]
    else:
        bad = [claim for claim in report["claims"] if claim["verdict"] != wanted]
    if report["claims"] and not bad and exit_code == 0:
        return ""
    return "\n".join(_lines(report, bad, html, exit_code))


def _lines(
    report: dict[str, Any], bad: list[dict[str, Any]], html: Path, exit_code: int
) -> Iterator[str]:
    run = report["run"]
    yield f"{report['headline']}"
    for claim in bad:
        yield f"  {claim['name']}: {claim['verdict']}{_expected(claim)}. {claim['reason']}"
    if not report["claims"]:
        yield "  no claim was judged"
    for some in report["findings"]:
        count = some["count"]
        yield f"  {some['anomaly']}: {count} finding{'s' if count != 1 else ''}"
        for finding in some["shown"][:_WITNESSES]:
            yield f"    {finding['sentence']}"
    effective = [fault for fault in report["faults"] if fault["took_effect"]]
    for fault in effective:
        yield f"  under {fault['fault']}: {fault['description']}"
    if advice := _ADVICE.get(exit_code):
        yield advice
    yield f"report: {html}"
    if run.get("repeat"):
        yield f"again:  {run['repeat']}"


def _expected(claim: dict[str, Any]) -> str:
    expectation = claim["expectation"]
    if not expectation:
        return ""
    anomalies = ", ".join(expectation["anomalies"])
    return f" (expected {expectation['verdict']}{f' by {anomalies}' if anomalies else ''})"
