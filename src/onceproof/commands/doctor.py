"""`onceproof doctor`: show what is installed, what is missing and what to do."""

from __future__ import annotations

from onceproof.errors import TROUBLE, exit_on_error
from onceproof.harness.processes.sweep import find_leftovers
from onceproof.harness.tools import doctor as doctors


def doctor() -> int:
    with exit_on_error():
        findings = doctors.examine(
            leftovers=lambda: [p for left in find_leftovers() for p in left.processes]
        )
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            print(f"{finding.status:<8} {finding.name:<{width}}  {finding.detail}")
            if finding.advice:
                print(f"{'':<8} {'':<{width}}  → {finding.advice}")
        problems = any(f.status is doctors.Status.PROBLEM for f in findings)
        return TROUBLE if problems else 0
