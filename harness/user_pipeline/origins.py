"""Which inputs an effect comes from.

With one input topic, a rule finds the identity of an input. With several, each topic has a rule: a
joined row names an input of each topic, a merged one an input of one of them. Topics may use the
same identities, so with several topics, identities start with the topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onceproof.harness.user_pipeline.identity import Rule, Written


def of_topic(topic: str, identity: str) -> str:
    """Return an identity prefixed with its topic; topic names contain no slash."""
    return f"{topic}/{identity}"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """One input that an effect names.

    Attributes:
        topic: of the input; None if there is only one topic.
        record: its identity; None: nothing is named.
        place: tells several origins of one effect apart; empty if there is one.
    """

    topic: str | None
    record: str | None
    place: str = ""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A rule for each of several topics, as pairs of topic and rule."""

    by_topic: tuple[tuple[str, Rule], ...]

    def __str__(self) -> str:
        return " and ".join(f"{rule} of {topic}" for topic, rule in self.by_topic)


def rules_of(identity: Rule | Rules) -> tuple[Rule, ...]:
    return (identity,) if isinstance(identity, Rule) else tuple(r for _, r in identity.by_topic)


def origins(identity: Rule | Rules, written: Written) -> Iterator[Origin]:
    """Yield the inputs that an effect names, or one with `record` None."""
    if isinstance(identity, Rule):
        names = identity.find_each(written)
        for n, name in enumerate(names):
            yield Origin(topic=None, record=name, place=f"[{n}]" if len(names) > 1 else "")
        return
    found = [
        Origin(
            topic=topic,
            record=of_topic(topic, named.record),
            place=f"[{topic}]{named.place}",
        )
        for topic, rule in identity.by_topic
        for named in origins(rule, written)
        if named.record is not None
    ]
    yield from found or [Origin(topic=None, record=None)]
