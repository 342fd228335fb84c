"""Which inputs something comes from that a pipeline of somebody's own wrote.

Of one input topic a rule finds the identity of an input. Of several there is a rule for each topic:
a joined row names an input of each, a merged one an input of one of them. Two topics may use the
same identities, so identities of several topics begin with their topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onceproof.harness.user_pipeline.identity import Rule, Written


def of_topic(topic: str, identity: str) -> str:
    """The identity of an input among those of several topics; no topic has a slash in its name."""
    return f"{topic}/{identity}"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """One input that something names.

    Attributes:
        topic: of the input; None: there is only one.
        record: its identity; None: nothing is named.
        place: tells several of one thing apart; empty where there is one.
    """

    topic: str | None
    record: str | None
    place: str = ""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A rule for each of several topics.

    Attributes:
        by_topic: each topic, and the rule that finds the identity of its inputs.
    """

    by_topic: tuple[tuple[str, Rule], ...]

    def __str__(self) -> str:
        return " and ".join(f"{rule} of {topic}" for topic, rule in self.by_topic)


def rules_of(identity: Rule | Rules) -> tuple[Rule, ...]:
    """All rules that find identities."""
    return (identity,) if isinstance(identity, Rule) else tuple(r for _, r in identity.by_topic)


def origins(identity: Rule | Rules, written: Written) -> Iterator[Origin]:
    """The inputs that something names; one that is None if there are none."""
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
