"""List differences between the runs themselves, such as another client version or hazard."""

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
"""How `flat` writes None."""


def circumstances(report: Report) -> Circumstances:
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
    """Yield the differences, section by section. Sections that only one run has are skipped."""
    for section in a:
        if section not in b:
            continue
        one, other = _known(a[section]), _known(b[section])
        for name in dict.fromkeys([*one, *other]):
            if one.get(name) != other.get(name):
                yield Difference(section=section, name=name, a=one.get(name), b=other.get(name))


def _known(values: Mapping[str, str]) -> dict[str, str]:
    """Drop settings recorded as None: another version may not have the setting at all."""
    return {name: value for name, value in values.items() if value != _NOTHING}


def _effect(fault: Fault) -> str:
    if fault.error is not None:
        return f"failed: {fault.error}"
    return "took effect" if fault.took_effect else "had no effect"
