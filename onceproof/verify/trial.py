"""From what a user says of a pipeline to a scenario that puts it on trial.

The one thing to know: everything that can be wrong with what was said is found here, before
anything is started.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from checkers.claims import AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE
from checkers.fine_print import standard_fine_print
from checkers.model import Claim, Expectation, FinePrint, Hop, Scope, Verdict
from harness.faults.by_hand import UnknownFault
from harness.faults.kill_program import HAZARDS
from harness.kafka.topic import Topic
from harness.own.fill import fill
from harness.own.given import count
from harness.own.identity import BadRule, Rule
from harness.own.orders import Orders
from harness.own.outputs.output import Output
from harness.own.subject import WORDS, OwnPipeline
from harness.scenario import At, BadScenario, Scenario
from harness.schedule_json import BadSchedule, schedule_from_json
from onceproof.verify.presets import STANDARD, by_name, preset

NAME: Final = "verify"
CLAIMS: Final = (EXACTLY_ONCE, AT_LEAST_ONCE, AT_MOST_ONCE)
"""Guarantees that can be put on trial without knowing more of a pipeline."""
RECORDS: Final = 12_000
"""How many orders are made up unless somebody says."""
REPLAYED: Final = "replayed-batch"
"""What must have happened to a Spark job: a micro-batch ran again that the sink had already."""
_LEAST: Final = 200
"""For each fault: fewer would be over before it has struck."""
REHEARSED: Final = 300
"""How many records a rehearsal sends."""


_BEFORE, _AFTER = HAZARDS["before-commit"], HAZARDS["after-commit"]
_HAZARDS: Final = {
    AT_MOST_ONCE: {_BEFORE},
    AT_LEAST_ONCE: {_AFTER},
    EXACTLY_ONCE: {_BEFORE, _AFTER},
}
"""What must have happened to a program before anything is said to hold: a commit that was lost
doubles what was written before it, one that nobody heard of loses what was to be written after."""


class BadTrial(ValueError):
    """What was said cannot be put on trial; the text says what would be right."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a user says.

    Attributes:
        command: of the pipeline, with words in braces.
        folder: where it is started.
        topic: its input.
        outputs: where it writes, as `Output.parse` reads it.
        identity: where an effect has the identity of its input.
        effects: how many each input has; `effect_key`: what tells several apart.
        data: a file of records; None: orders are made up.
        data_identity, data_key: where a record of it has its identity, and its key.
        records: how many; None: all of a file, or as many as usual.
        partitions, rate: of the input topic; records per second while faults are at work.
        claims: guarantees on trial.
        preset: what is done to it; `faults`: instead of that, by name; `schedule`: by file.
    """

    command: tuple[str, ...]
    folder: Path
    topic: str = "orders"
    outputs: tuple[str, ...] = ()
    identity: str = "json:$.order_id"
    effects: str = "1"
    effect_key: str | None = None
    data: Path | None = None
    data_identity: str | None = None
    data_key: str | None = None
    records: int | None = None
    partitions: int = 3
    rate: int = 400
    claims: tuple[str, ...] = (EXACTLY_ONCE,)
    preset: str = STANDARD
    faults: tuple[str, ...] = ()
    schedule: Path | None = None


def trial(said: Said) -> Scenario:
    """The scenario.

    Raises:
        BadTrial: something of it is not as it should be.
    """
    try:
        return _trial(said)
    except (BadRule, UnknownFault, BadSchedule, BadScenario) as error:
        raise BadTrial(str(error)) from error


def rehearsal(scenario: Scenario) -> Scenario:
    """The same without faults and with few records: does it run, and are identities read back?"""
    orders = scenario.workload
    assert isinstance(orders, Orders)
    subject = scenario.subject
    assert isinstance(subject, OwnPipeline)
    few = replace(orders, records=min(REHEARSED, orders.records))
    return replace(
        scenario,
        name=f"{NAME}-dry-run",
        title="A rehearsal: no fault, few records",
        workload=few,
        subject=replace(subject, orders=few),
        schedule=(),
        claims=tuple(replace(claim, hazards=frozenset(), expect=None) for claim in scenario.claims),
    )


def _trial(said: Said) -> Scenario:
    if not said.command:
        raise BadTrial("no command: write the pipeline's behind --, as in `-- python job.py`")
    if not said.outputs:
        raise BadTrial("no output: say with --output where the pipeline writes")
    for part in said.command:
        fill(part, WORDS)
    identity = Rule.parse(said.identity)
    outputs = tuple(Output.parse(text, identity) for text in said.outputs)
    subject = OwnPipeline(
        command=said.command,
        folder=str(said.folder),
        outputs=outputs,
        orders=_orders(said),
    )
    schedule = _schedule(said, spark=subject.spark)
    least = _LEAST * len(schedule)
    if subject.orders.records < least:
        raise BadTrial(
            f"{subject.orders.records} records are over before {len(schedule)} faults have struck; "
            f"expected {least} or more, or fewer faults (--preset gentle)"
        )
    return Scenario(
        name=NAME,
        title=f"A pipeline of your own: {said.topic} → {', '.join(subject.sinks)}",
        subject=subject,
        workload=subject.orders,
        schedule=schedule,
        claims=tuple(
            _claim(guarantee, said.topic, output, spark=subject.spark)
            for output in outputs
            for guarantee in said.claims
        ),
        topics=tuple(
            Topic(name=output.topic, partitions=said.partitions)
            for output in outputs
            if output.topic is not None
        ),
    )


def _orders(said: Said) -> Orders:
    orders = Orders(
        topic=said.topic,
        records=said.records or RECORDS,
        effects=said.effects,
        effect_key=said.effect_key,
        partitions=said.partitions,
        rate=said.rate,
    )
    if said.data is not None:
        if not said.data.is_file():
            raise BadTrial(f"{said.data} is not there; expected a .jsonl, .csv or .parquet file")
        there = count(said.data)
        orders = replace(
            orders,
            records=min(said.records or there, there),
            file=str(said.data.absolute()),
            identity=said.data_identity or said.identity,
            key=said.data_key,
        )
    elif said.data_identity or said.data_key:
        raise BadTrial("--data-identity and --data-key speak of a file; say which with --data")
    for _ in orders.expected(producer=0, seed=0, sink=""):
        pass  # a record without an identity is met here, and one that the function fails for
    return orders


def _schedule(said: Said, *, spark: bool) -> tuple[At, ...]:
    if said.schedule is not None:
        try:
            return schedule_from_json(json.loads(said.schedule.read_text()))
        except OSError as error:
            raise BadTrial(
                f"{said.schedule} cannot be read: {error.strerror}; expected a file with a "
                "schedule, as run.json has in `plan`"
            ) from error
        except ValueError as error:
            raise BadTrial(
                f"{said.schedule}: {error}; expected a schedule, as run.json has in `plan`"
            ) from error
    return by_name(said.faults) if said.faults else preset(said.preset, spark=spark)


def _claim(guarantee: str, topic: str, output: Output, *, spark: bool) -> Claim:
    if guarantee not in CLAIMS:
        raise BadTrial(f"{guarantee!r} cannot be put on trial; there are {', '.join(CLAIMS)}")
    return Claim(
        guarantee=guarantee,
        hop=Hop.PROCESS,
        scope=Scope(input=topic, sink=output.name, view=output.view),
        hazards=frozenset({REPLAYED} if spark else _HAZARDS[guarantee]),
        fine_print=_fine_print(guarantee),
        expect=Expectation(verdict=Verdict.HOLDS),
    )


def _fine_print(guarantee: str) -> FinePrint:
    standard = standard_fine_print(guarantee, Hop.PROCESS)
    return replace(
        standard,
        promise=standard.promise.replace(", with the right content", ""),
        not_tested=(
            "What effects say: only their number and their identities were compared. "
            + standard.not_tested
        ),
    )
