"""What differs between the runs themselves, and may explain what differs between their findings.

Nothing here is judged. A hazard that the one run met and the other did not
is a difference like another version of a client.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from onceproof.reports.diff.model import Difference
from onceproof.reports.diff.side import Circumstances
from onceproof.reports.html.facts import flat
from onceproof.reports.model import Fault, Report
from onceproof.reports.text import number

VERSIONS: Final = "versions"
_BACKEND: Final = "backend"
_NOTHING: Final = "–"
"""How `flat` writes a setting that is None."""


def circumstances(report: Report) -> Circumstances:
    """Everything of a run that may explain its findings, section by section."""
    run = report.run
    settings = {k: v for k, v in run.configuration.items() if k != _BACKEND}
    return {
        "run": {
            "scenario": run.scenario,
            "subject": run.subject,
            "seed": str(run.seed),
            "backend": str(run.configuration.get(_BACKEND, "local")),
        },
        VERSIONS: dict(run.versions),
        "workload": dict(flat(run.workload)),
        "configuration": dict(flat(settings)),
        "schedule": {
            step.fault: f"when {step.when}: {step.do}; until {step.until}" for step in run.schedule
        },
        "faults that took effect": {fault.fault: _effect(fault) for fault in report.faults},
        "hazards observed": {
            f"{found.hazard} on hop {found.hop}": number(found.count) for found in report.hazards
        },
        "phases": {phase.phase: phase.outcome or "did not end" for phase in report.phases},
        "host": dict(run.host),
    }


def differences(a: Circumstances, b: Circumstances) -> Iterator[Difference]:
    """What differs, section by section; a section that one of them does not know says nothing."""
    for section in a:
        if section not in b:
            continue
        one, other = _known(a[section]), _known(b[section])
        for name in dict.fromkeys([*one, *other]):
            if one.get(name) != other.get(name):
                yield Difference(section=section, name=name, a=one.get(name), b=other.get(name))


def _known(values: Mapping[str, str]) -> dict[str, str]:
    """Without what is only recorded as absent: another version may not know it at all."""
    return {name: value for name, value in values.items() if value != _NOTHING}


def _effect(fault: Fault) -> str:
    if fault.error is not None:
        return f"failed: {fault.error}"
    return "took effect" if fault.took_effect else "had no effect"
