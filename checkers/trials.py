"""What is on trial: the inputs and outputs of the claims, as tables for the queries.

All trials of a history are judged together. Every relation and anomaly has a column `trial`, which
refers to these tables:

* `inputs(trial, topic, complete, collected, collect_started, collect_clock)`: one row per topic;
* `outputs(trial, topic, sink, view, dead_letters, deduplicates, complete, collected)`: one row per
  input, sink, view and way of judging, numbered separately;
* `companions(trial, present, missing)`: pairs of outputs that are claimed to be atomic, in both
  orders. `trial` is the first output of the claim.

`settled(topic)` has the topics that had settled. Liveness anomalies belong to the whole run and
have trial 0. `sampled(record)` has the records of the mutation self-check, if any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Final

import pyarrow as pa

from onceproof.checkers.model import Claim, Hop

RUN: Final = 0
"""The trial of anomalies that belong to the whole run."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """An input topic, and how much of the history was collected."""

    topic: str
    complete: bool = True
    collected: bool = True
    collect_started: int | None = None
    collect_clock: str | None = None


@dataclass(frozen=True, kw_only=True)
class Output:
    """A view of a sink, for one input."""

    topic: str
    sink: str
    view: str
    dead_letters: str | None = None
    deduplicates: bool = False


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Everything on trial; the number of a trial is its index here, from 1."""

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...] = ()
    together: tuple[tuple[Output, ...], ...] = ()
    """Groups of outputs that are claimed to be atomic; the claim's findings belong to the first."""
    settled: tuple[str, ...] = ()

    @classmethod
    def of(cls, claims: Iterable[Claim], made: Input, settled: Sequence[str]) -> Trials:
        """Create the trials of claims; `made` says how the history was collected."""
        claims = tuple(claims)
        topics = dict.fromkeys(claim.scope.input for claim in claims)
        groups = [outputs_of(claim) for claim in claims if claim.hop is not Hop.PRODUCE]
        return cls(
            inputs=tuple(
                Input(
                    topic=topic,
                    complete=made.complete,
                    collected=made.collected,
                    collect_started=made.collect_started,
                    collect_clock=made.collect_clock,
                )
                for topic in topics
            ),
            outputs=tuple(dict.fromkeys(output for group in groups for output in group)),
            together=tuple(dict.fromkeys(group for group in groups if len(group) > 1)),
            settled=tuple(settled),
        )

    def input(self, claim: Claim) -> int:
        return 1 + [i.topic for i in self.inputs].index(claim.scope.input)

    def output(self, claim: Claim) -> int:
        return self.number(outputs_of(claim)[0])

    def number(self, output: Output) -> int:
        return 1 + self.outputs.index(output)

    def tables(self) -> dict[str, pa.Table]:
        by_topic = {i.topic: i for i in self.inputs}
        companions = [
            {"trial": self.number(group[0]), "present": self.number(a), "missing": self.number(b)}
            for group in self.together
            for a, b in permutations(group, 2)
        ]
        numbers = [(name, pa.int32()) for name in ("trial", "present", "missing")]
        return {
            "inputs": pa.table(
                {
                    "trial": pa.array(range(1, 1 + len(self.inputs)), pa.int32()),
                    "topic": pa.array([i.topic for i in self.inputs], pa.string()),
                    "complete": pa.array([i.complete for i in self.inputs], pa.bool_()),
                    "collected": pa.array([i.collected for i in self.inputs], pa.bool_()),
                    "collect_started": pa.array(
                        [i.collect_started for i in self.inputs], pa.int64()
                    ),
                    "collect_clock": pa.array([i.collect_clock for i in self.inputs], pa.string()),
                }
            ),
            "outputs": pa.table(
                {
                    "trial": pa.array(range(1, 1 + len(self.outputs)), pa.int32()),
                    "topic": pa.array([o.topic for o in self.outputs], pa.string()),
                    "sink": pa.array([o.sink for o in self.outputs], pa.string()),
                    "view": pa.array([o.view for o in self.outputs], pa.string()),
                    "dead_letters": pa.array([o.dead_letters for o in self.outputs], pa.string()),
                    "deduplicates": pa.array([o.deduplicates for o in self.outputs], pa.bool_()),
                    "complete": pa.array(
                        [by_topic[o.topic].complete for o in self.outputs], pa.bool_()
                    ),
                    "collected": pa.array(
                        [by_topic[o.topic].collected for o in self.outputs], pa.bool_()
                    ),
                }
            ),
            "companions": pa.Table.from_pylist(companions, schema=pa.schema(numbers)),
            "settled": pa.table({"topic": pa.array(self.settled, pa.string())}),
            "sampled": no_records(),
        }


def no_records() -> pa.Table:
    return pa.table({"record": pa.array([], pa.string())})


def outputs_of(claim: Claim) -> tuple[Output, ...]:
    """Return a claim's outputs; its findings belong to the first."""
    scope = claim.scope
    own = Output(
        topic=scope.input,
        sink=scope.sink or "",
        view=scope.view or "",
        dead_letters=scope.dead_letters,
        deduplicates=claim.deduplicates,
    )
    return (own, *(replace(own, sink=sink, view=view) for sink, view in scope.others))
