"""What is on trial: the inputs and outputs that the claims speak of, as tables for the queries.

All trials of a history are judged in one go. Every relation and every
anomaly carries a column `trial`, and two tables say what is meant by it:

* `inputs(trial, topic, complete, collected, collect_started, collect_clock)`: one row per topic;
* `outputs(trial, topic, sink, view, dead_letters, deduplicates, complete, collected)`: one row per
  input, sink, view and way of judging. Its numbers are its own;
* `companions(trial, present, missing)`: two outputs that are claimed to be atomic, in either order,
  by the numbers of both and that of the output which the claim is booked on.

`settled(topic)` names the topics of which everything had come to rest; anomalies of liveness belong
to the whole run and have trial 0. `sampled(record)` holds the records of the mutation
self-check; without one there are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Final

import pyarrow as pa

from onceproof.checkers.model import Claim, Hop

RUN: Final = 0
"""The trial of what belongs to the whole run."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """An input topic on trial, and how much of the history was collected."""

    topic: str
    complete: bool = True
    collected: bool = True
    collect_started: int | None = None
    collect_clock: str | None = None


@dataclass(frozen=True, kw_only=True)
class Output:
    """A view of a sink on trial, for one input."""

    topic: str
    sink: str
    view: str
    dead_letters: str | None = None
    deduplicates: bool = False


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Everything that is on trial; the number of a trial is its place here, from 1."""

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...] = ()
    together: tuple[tuple[Output, ...], ...] = ()
    """Outputs that are claimed to be atomic; the first is the one that the claim is booked on."""
    settled: tuple[str, ...] = ()
    """Topics of which everything had come to rest."""

    @classmethod
    def of(cls, claims: Iterable[Claim], made: Input, settled: Sequence[str]) -> Trials:
        """What claims speak of, in their order; `made` says how the history was collected."""
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
        """The number of the trial of a claim's input."""
        return 1 + [i.topic for i in self.inputs].index(claim.scope.input)

    def output(self, claim: Claim) -> int:
        """The number of the trial of a claim's output."""
        return self.number(outputs_of(claim)[0])

    def number(self, output: Output) -> int:
        """The number of the trial of an output."""
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
            "sampled": nobody(),
        }


def nobody() -> pa.Table:
    """An empty sample of records."""
    return pa.table({"record": pa.array([], pa.string())})


def outputs_of(claim: Claim) -> tuple[Output, ...]:
    """What a claim about sinks puts on trial; it is booked on the first."""
    scope = claim.scope
    own = Output(
        topic=scope.input,
        sink=scope.sink or "",
        view=scope.view or "",
        dead_letters=scope.dead_letters,
        deduplicates=claim.deduplicates,
    )
    return (own, *(replace(own, sink=sink, view=view) for sink, view in scope.others))
