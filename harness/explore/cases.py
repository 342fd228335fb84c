"""The smallest cases of confirmed violations, as a file that can be kept and tried again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.journal import Known
from onceproof.harness.explore.trials import Faults, Outcome, key_of, parse_key


class BadCases(ValueError):
    """A file of cases cannot be read; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """The faults and the load that repeat a violation.

    Attributes:
        anomalies: those of the violation; a repeated trial fails like it if it has one of them.
        failed: in how many of `tries` this case failed when it was found.
    """

    faults: Faults
    load: Load
    anomalies: frozenset[str]
    failed: int
    tries: int

    @property
    def key(self) -> str:
        return key_of(self.faults)

    def fails(self, outcome: Outcome) -> bool:
        """Return whether a trial of this case failed as it did before."""
        return outcome.violated and bool(outcome.anomalies & self.anomalies)


def cases_of(known: Known) -> list[Case]:
    """Return the smallest case of each shrunk violation, each set of faults once.

    A case that failed in no try after it was shrunk is left out.
    """
    anomalies = {e.key: e.outcome.anomalies for e in known.trials if e.outcome.violated}
    found: dict[str, Case] = {}
    for key, shrunk in known.shrunk.items():
        if not shrunk.failed:
            continue
        case = Case(
            faults=parse_key(shrunk.to),
            load=Load(transactions=shrunk.transactions, records=shrunk.records),
            anomalies=anomalies[key],
            failed=shrunk.failed,
            tries=shrunk.tries,
        )
        found.setdefault(case.key, case)
    return list(found.values())


def write_cases(cases: Iterable[Case], about: Mapping[str, Any]) -> str:
    """Return the text of a file of cases; `about` says what was explored."""
    rows = [
        {
            "faults": case.key,
            "transactions": case.load.transactions,
            "records": case.load.records,
            "anomalies": sorted(case.anomalies),
            "failed": case.failed,
            "tries": case.tries,
        }
        for case in cases
    ]
    kept = {name: about[name] for name in ("subject", "versions") if name in about}
    return json.dumps({**kept, "cases": rows}, indent=1) + "\n"


def read_cases(path: Path, subject: str) -> Sequence[Case]:
    """Read a file of cases.

    Raises:
        BadCases: there is no such file, it is damaged, has no case, or is about another subject.
    """
    try:
        data = json.loads(path.read_text())
        cases = [_case(row) for row in data["cases"]]
        about = data["subject"]
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadCases(f"{path} is not a file of cases: {type(error).__name__}: {error}") from None
    if about != subject:
        raise BadCases(f"the cases in {path} are about {about}, not {subject}")
    if not cases:
        raise BadCases(f"{path} has no cases")
    return cases


def _case(row: Mapping[str, Any]) -> Case:
    faults = parse_key(row["faults"])
    if not faults or not 0 < row["failed"] <= row["tries"]:
        raise ValueError("a case has faults, and failed at least once")
    return Case(
        faults=faults,
        load=Load(transactions=int(row["transactions"]), records=int(row["records"])),
        anomalies=frozenset(row["anomalies"]),
        failed=int(row["failed"]),
        tries=int(row["tries"]),
    )
