"""Run faults in sequence. Each has taken effect and is healed before the next one starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onceproof.harness.faults.base import Injection


class Rounds:
    """A sequence of injections as one injection."""

    def __init__(self, steps: Sequence[Callable[[], Injection]]) -> None:
        self._steps = list(steps)
        self._evidence: list[str] = []
        self._current = self._next()
        self.target = self._current.target
        self.at = self._current.at

    def evidence(self) -> str | None:
        """Return the evidence of all rounds once the last has taken effect."""
        proof = self._current.evidence()
        if proof is None:
            return None
        if not self._steps:
            return "; ".join([*self._evidence, proof])
        self._evidence.append(proof)
        self._current.heal()
        self._current = self._next()
        self.target = ", ".join(dict.fromkeys([self.target, self._current.target]))
        return None

    def heal(self) -> None:
        self._current.heal()

    def _next(self) -> Injection:
        return self._steps.pop(0)()
