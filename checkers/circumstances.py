"""The facts that a history records about the run itself: phases, faults and hazards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from onceproof.checkers.history import History
from onceproof.checkers.model import Hop, Row
from onceproof.checkers.promised import NOTHING, RequiredHistory

TO_COMPLETE: Final = ("settle", "collect")
"""Phases that must have ended well for absence from the history to prove anything."""


@dataclass(frozen=True, kw_only=True)
class OutOfScope:
    """Owners whose effects go to other sinks, and attempts to send to other topics."""

    owners: frozenset[object] = frozenset()
    attempts: frozenset[object] = frozenset()

    def has(self, hazard: Row) -> bool:
        return hazard["owner"] in self.owners or hazard["attempt"] in self.attempts


NOWHERE: Final = OutOfScope()


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """The rows of `phases`, `faults` and `hazards`, and conclusions from them."""

    phases: tuple[Row, ...] = ()
    faults: tuple[Row, ...] = ()
    hazards: tuple[Row, ...] = ()
    due: tuple[str, ...] = TO_COMPLETE
    """The phases of a run that ended normally, in order."""
    doubt: str | None = None
    """Why it is unknown whether all rows are there; None if it is known."""

    @classmethod
    def of(cls, history: History, promised: RequiredHistory = NOTHING) -> Circumstances:
        return cls(
            due=promised.phases or TO_COMPLETE,
            doubt=promised.doubt,
            phases=tuple(history["phases"].to_pylist()),
            faults=tuple(history["faults"].to_pylist()),
            hazards=tuple(history["hazards"].to_pylist()),
        )

    @property
    def complete(self) -> bool:
        """Settling and collecting both ended well; only then does absence prove anything."""
        return self.doubt is None and all(self._outcomes(phase) == {"ok"} for phase in TO_COMPLETE)

    @property
    def settled(self) -> bool:
        """The settle phase ended, even if stalled or held back, or no phases are recorded."""
        return not self.phases or bool(self._outcomes("settle") & {"ok", "stalled", "held-back"})

    @property
    def collection(self) -> Row | None:
        rows = [row for row in self.phases if row["phase"] == "collect"]
        return rows[-1] if rows and self._outcomes("collect") == {"ok"} else None

    @property
    def stalled(self) -> bool:
        return any(row["outcome"] == "stalled" for row in self.phases)

    @property
    def held_back(self) -> str | None:
        """Why missing effects may still arrive; None if they may not, or this was not checked."""
        for row in self.phases:
            if row["outcome"] == "held-back":
                return str(row["detail"])
        return None

    @property
    def failure(self) -> str | None:
        for row in self.phases:
            if row["outcome"] == "failed":
                return f"phase {row['phase']} failed{_because(row)}"
        return None

    @property
    def interruption(self) -> str | None:
        """Where the run ended early, in a sentence; None if it did not."""
        if not self.phases:
            return "no phase was recorded, so it is unknown how far the run got"
        for row in self.phases:
            if row["outcome"] == "interrupted":
                return f"the run was interrupted in phase {row['phase']}{_because(row)}"
            if row["outcome"] is None:
                return f"the harness ended in phase {row['phase']}"
        if self.failure or self.stalled:
            return None
        for place, phase in enumerate(self.due):
            if not self._outcomes(phase):
                if any(self._outcomes(later) for later in self.due[place:]):
                    return f"phase {phase} was not recorded, although later ones were"
                return f"the run ended after phase {self.phases[-1]['phase']}, before {phase}"
        return None

    def uncovered(self, covers: frozenset[str]) -> str | None:
        for row in self.faults:
            if row["injected_at"] is not None and row["kind"] not in covers:
                return f"fault «{row['fault']}» is of kind {row['kind']}"
        return None

    def without_effect(self) -> str | None:
        """Describe the first fault that proves nothing or was not healed.

        After a stall, faults that never started or were not seen to heal are not reported.
        """
        for row in self.faults:
            name = f"fault «{row['fault']}»"
            if row["required"] and row["error"] is not None:
                return f"required {name} failed: {row['error']}"
            reached = row["armed_at"] is not None or row["injected_at"] is not None
            if row["required"] and not row["took_effect"] and (reached or not self.stalled):
                return (
                    f"required {name} left no evidence that it took effect"
                    if reached
                    else f"required {name} never started: its trigger did not fire"
                )
            if row["injected_at"] is not None and row["healed_at"] is None and not self.stalled:
                return f"there is no evidence that {name} healed"
        return self._sets_without_effect()

    def _sets_without_effect(self) -> str | None:
        sets: dict[str, list[Row]] = {}
        for row in self.faults:
            if (name := row.get("one_of")) is not None:
                sets.setdefault(str(name), []).append(row)
        for name, rows in sorted(sets.items()):
            reached = any(row["injected_at"] is not None for row in rows)
            if not any(row["took_effect"] for row in rows) and (reached or not self.stalled):
                return (
                    f"at least one of the {len(rows)} faults «{name}» had to take effect, but none "
                    "left evidence of it"
                )
        return None

    @property
    def hung(self) -> str | None:
        details = [row["detail"] for row in self.hazards if row["hazard"] == "hung"]
        if not details:
            return None
        times = "once" if len(details) == 1 else f"{len(details)} times"
        return f"The pipeline hung {times}, which refutes nothing: {'; '.join(map(str, details))}."

    def hazards_seen(self, hop: Hop, elsewhere: OutOfScope = NOWHERE) -> dict[str, int]:
        """Count the hazards observed on a hop by kind, except those that are `elsewhere`."""
        seen: dict[str, int] = {}
        for row in self.hazards:
            here = hop is Hop.END_TO_END or row["hop"] == hop.value
            if here and not elsewhere.has(row):
                kind = str(row["hazard"])
                seen[kind] = seen.get(kind, 0) + 1
        return dict(sorted(seen.items()))

    def _outcomes(self, phase: str) -> set[object]:
        return {row["outcome"] for row in self.phases if row["phase"] == phase}


def _because(row: Row) -> str:
    return f": {row['detail']}" if row["detail"] else ""
