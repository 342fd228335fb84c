"""G0, G1c and its variants: cycles among committed transactions that sent to a topic.

`cycle_oracle` finds the cycles; each of their steps becomes one hit.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.properties.checkers import cycle_oracle
from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past


def cycles(past: Past) -> dict[str, Iterator[Hit]]:
    """Anomaly → steps of all cycles in which a transaction sent to the topic."""
    topic_txns = {s["txn"] for s in past.sends}
    return {
        name: (
            hit
            for walk in components.values()
            if topic_txns & set(walk)
            for hit in _steps(past.topic, walk)
        )
        for name, components in cycle_oracle.cycles(past.rows).items()
    }


def _steps(topic: str, walk: tuple[str, ...]) -> Iterator[Hit]:
    key = (topic, cycle_oracle.title(walk))
    for step, (source, target) in enumerate(zip(walk, [*walk[1:], walk[0]], strict=True)):
        yield Hit(key, {"step": step, "source": source, "target": target})
