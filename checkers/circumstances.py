"""What a history says of the run itself: its phases, faults and hazards.

*complete* means that settling and collecting both ended well. Only then does
the absence of something prove anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from onceproof.checkers.history import History
from onceproof.checkers.model import Hop, Row
from onceproof.checkers.promised import NOTHING, Promised

TO_COMPLETE: Final = ("settle", "collect")
"""The phases that a run must have ended well for what is absent from its history to be absent."""


@dataclass(frozen=True, kw_only=True)
class OutOfScope:
    """What is known to have gone elsewhere than a claim speaks of.

    Attributes:
        owners: whose effects go to other sinks.
        attempts: of sends to other topics.
    """

    owners: frozenset[object] = frozenset()
    attempts: frozenset[object] = frozenset()

    def has(self, hazard: Row) -> bool:
        return hazard["owner"] in self.owners or hazard["attempt"] in self.attempts


NOWHERE: Final = OutOfScope()
"""Nothing is known to have."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """The rows of `phases`, `faults` and `hazards`, and what follows from them."""

    phases: tuple[Row, ...] = ()
    faults: tuple[Row, ...] = ()
    hazards: tuple[Row, ...] = ()
    due: tuple[str, ...] = TO_COMPLETE
    """The phases of a run that came to its end, in their order."""
    doubt: str | None = None
    """Why nobody knows whether all rows are there."""

    @classmethod
    def of(cls, history: History, promised: Promised = NOTHING) -> Circumstances:
        return cls(
            due=promised.phases or TO_COMPLETE,
            doubt=promised.doubt,
            phases=tuple(history["phases"].to_pylist()),
            faults=tuple(history["faults"].to_pylist()),
            hazards=tuple(history["hazards"].to_pylist()),
        )

    @property
    def complete(self) -> bool:
        """Settled and collected to the end, so that what is absent is absent."""
        return self.doubt is None and all(self._outcomes(phase) == {"ok"} for phase in TO_COMPLETE)

    @property
    def settled(self) -> bool:
        """Everything had come to rest, or it is not known whether it had."""
        return not self.phases or bool(self._outcomes("settle") & {"ok", "stalled", "held-back"})

    @property
    def collection(self) -> Row | None:
        """The phase that collected everything, if it ended well."""
        rows = [row for row in self.phases if row["phase"] == "collect"]
        return rows[-1] if rows and self._outcomes("collect") == {"ok"} else None

    @property
    def stalled(self) -> bool:
        """Progress did not come back in some phase."""
        return any(row["outcome"] == "stalled" for row in self.phases)

    @property
    def held_back(self) -> str | None:
        """Why effects that are missing may still come; None if they may not, or nobody asked."""
        for row in self.phases:
            if row["outcome"] == "held-back":
                return str(row["detail"])
        return None

    @property
    def failure(self) -> str | None:
        """The first phase that failed, in words."""
        for row in self.phases:
            if row["outcome"] == "failed":
                return f"phase {row['phase']} failed{_because(row)}"
        return None

    @property
    def interruption(self) -> str | None:
        """Where the run ended before its time, in words; None if it did not."""
        if not self.phases:
            return "no phase was recorded, so nobody knows how far the run came"
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
        """The first injected fault of a kind that is not covered, in words."""
        for row in self.faults:
            if row["injected_at"] is not None and row["kind"] not in covers:
                return f"fault «{row['fault']}» is of kind {row['kind']}"
        return None

    def without_effect(self) -> str | None:
        """The first fault that proves nothing or was not undone, in words.

        A stall may keep later faults from being armed and earlier ones from being seen healed;
        that is the stall's doing.
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
                    else f"required {name} never started: its trigger did not come true"
                )
            if row["injected_at"] is not None and row["healed_at"] is None and not self.stalled:
                return f"{name} was not seen to be healed"
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
                    f"of the {len(rows)} faults «{name}» one had to take effect, and none left "
                    "evidence that it did"
                )
        return None

    @property
    def hung(self) -> str | None:
        """How often what is on trial hung and was started again, in words; None: never."""
        details = [row["detail"] for row in self.hazards if row["hazard"] == "hung"]
        if not details:
            return None
        times = "once" if len(details) == 1 else f"{len(details)} times"
        return f"It hung {times}, which refutes nothing: {'; '.join(map(str, details))}."

    def hazards_seen(self, hop: Hop, elsewhere: OutOfScope = NOWHERE) -> dict[str, int]:
        """How often each kind of hazard was observed on a hop; end to end is both.

        Args:
            elsewhere: whose work and which sends went elsewhere, which tests nothing here.
        """
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
