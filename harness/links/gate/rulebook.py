"""The rules of one gated link, in the order in which they were added.

The first rule that fires takes a message, and later rules do not count it. `report` rules do not
take messages.
"""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.harness.links.gate.contents import Contents
from onceproof.harness.links.gate.rules import Direction, Rule


@dataclass(kw_only=True)
class RuleCounter:
    """A rule with its counters.

    Attributes:
        after: a rule that must have fired before this one counts.
    """

    id: int
    rule: Rule
    after: RuleCounter | None = None
    matched: int = 0
    fired: int = 0

    @property
    def live(self) -> bool:
        return self.rule.times is None or self.fired < self.rule.times

    @property
    def counts(self) -> bool:
        return self.after is None or self.after.fired > 0

    def takes(self, client_id: str | None, contents: Contents | None, refused: bool | None) -> bool:
        """Count a message if it matches, and return whether the rule fires."""
        if not self.live or not self.rule.matches(client_id, contents, refused):
            return False
        self.matched += 1
        if self.matched < self.rule.message.nth:
            return False
        self.fired += 1
        return True


class Rulebook:
    """The rules of one gated link."""

    def __init__(self) -> None:
        self._rules: dict[int, RuleCounter] = {}
        self._watched: frozenset[int] = frozenset()

    @property
    def live(self) -> list[RuleCounter]:
        return [counted for counted in self._rules.values() if counted.live]

    @property
    def watched(self) -> frozenset[int]:
        """Keys of the APIs whose messages a rule needs whole."""
        return self._watched

    @property
    def reads_topics(self) -> bool:
        return any(counted.rule.message.topic is not None for counted in self.live)

    @property
    def learns_topics(self) -> bool:
        """Whether topic names are needed: a rule matches by topic, or reports."""
        return self.reads_topics or any(c.rule.action == "report" for c in self.live)

    def put(self, counted: RuleCounter) -> None:
        """Add a rule; links that share its counter count their messages together."""
        self._rules[counted.id] = counted
        self._update_watched()

    def remove(self, id: int) -> None:  # noqa: A002 - what it is called everywhere
        self._rules.pop(id, None)
        self._update_watched()

    def reads_requests(self, key: int) -> bool:
        return any(rule.reads_request for rule in self._rules_for(key))

    def reads_errors(self, key: int) -> bool:
        return any(rule.message.refused is not None for rule in self._rules_for(key))

    @property
    def reads_records(self) -> bool:
        return any(counted.rule.message.records is not None for counted in self.live)

    def meet(
        self,
        direction: Direction,
        key: int,
        client_id: str | None,
        contents: Contents | None,
        refused: bool | None = None,
    ) -> list[RuleCounter]:
        """Return the rules that fire: `report` rules, and at most one other, which is last."""
        fired = []
        # Chosen before any fires: a rule does not count the message at which the other one fires.
        for counted in [counted for counted in self.live if counted.counts]:
            wanted = counted.rule.message
            if (wanted.direction, wanted.key) == (direction, key) and counted.takes(
                client_id, contents, refused
            ):
                fired.append(counted)
                if counted.rule.action != "report":
                    break
        self._update_watched()
        return fired

    def _rules_for(self, key: int) -> list[Rule]:
        return [c.rule for c in self.live if c.rule.message.key == key]

    def _update_watched(self) -> None:
        self._watched = frozenset(counted.rule.message.key for counted in self.live)
