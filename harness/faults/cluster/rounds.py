"""Run faults in sequence. Each has taken effect and is healed before the next one starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onceproof.harness.faults.base import Injection


class Rounds:
    """A sequence of injections as one injection."""

    def __init__(self, steps: Sequence[Callable[[], Injection]]) -> None:
        self._steps = list(steps)
        self._evidence: list[str] = []
        self._now = self._next()
        self.target = self._now.target
        self.at = self._now.at

    def evidence(self) -> str | None:
        """Return the evidence of all rounds once the last has taken effect."""
        word = self._now.evidence()
        if word is None:
            return None
        if not self._steps:
            return "; ".join([*self._evidence, word])
        self._evidence.append(word)
        self._now.heal()
        self._now = self._next()
        self.target = ", ".join(dict.fromkeys([self.target, self._now.target]))
        return None

    def heal(self) -> None:
        self._now.heal()

    def _next(self) -> Injection:
        return self._steps.pop(0)()
