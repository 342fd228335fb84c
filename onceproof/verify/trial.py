"""From what a user says of a pipeline to a scenario that puts it on trial.

The one thing to know: everything that can be wrong with what was said is found here, before
anything is started.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from checkers.claims import AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE
from checkers.model import Claim, Expectation, Hop, Scope, Verdict
from harness.faults.by_hand import UnknownFault
from harness.faults.kill_program import HAZARDS
from harness.kafka.topic import Topic
from harness.own.fill import fill
from harness.own.given import count
from harness.own.identity import BadRule, Rule
from harness.own.orders import Orders
from harness.own.outputs.output import Output
from harness.own.subject import WORDS, OwnPipeline
from harness.own.upserts import check_spread
from harness.scenario import At, BadScenario, Scenario
from harness.schedule_json import BadSchedule, schedule_from_json
from onceproof.verify.checks import check_places, check_queues, check_upserts
from onceproof.verify.fine_print import fine_print
from onceproof.verify.presets import by_name, preset
from onceproof.verify.said import CLAIMS, BadTrial, Said

NAME: Final = "verify"
DRY_RUN: Final = f"{NAME}-dry-run"
RECORDS: Final = 12_000
"""How many orders are made up unless somebody says."""
REPLAYED: Final = "replayed-batch"
"""What must have happened to a Spark job: a micro-batch ran again that the sink had already."""
_LEAST: Final = 200
"""For each fault: fewer would be over before it has struck."""
REHEARSED: Final = 300
"""How many records a rehearsal sends."""

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes as a name."""

_BEFORE, _AFTER = HAZARDS["before-commit"], HAZARDS["after-commit"]
_HAZARDS: Final = {
    AT_MOST_ONCE: {_BEFORE},
    AT_LEAST_ONCE: {_AFTER},
    EXACTLY_ONCE: {_BEFORE, _AFTER},
}
"""What must have happened to a program before anything is said to hold: a commit that was lost
doubles what was written before it, one that nobody heard of loses what was to be written after."""


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
        name=DRY_RUN,
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
    subject = _subject(said)
    _check_losses(said, subject)
    schedule = _schedule(said, spark=subject.spark, queues=bool(subject.queues))
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
            _claim(guarantee, subject, output, schedule)
            for output in subject.outputs
            for guarantee in said.claims
        ),
        topics=tuple(
            Topic(name=name, partitions=said.partitions) for name in _topics(subject, said)
        ),
    )


def _check_losses(said: Said, subject: OwnPipeline) -> None:
    """Where every input may have no effect, nothing that is missing could be told from a loss."""
    effects = subject.comes_to
    if effects.optional and effects.function is None and set(said.claims) != {AT_MOST_ONCE}:
        raise BadTrial(
            f"--effects {effects} cannot show that something is lost; expected FILE.py:FUNCTION, "
            "which says of each input how many it has, or --claim at-most-once alone"
        )


def _topics(subject: OwnPipeline, said: Said) -> Iterable[str]:
    """Topics that are made beside its input: those that it writes to, and those it needs."""
    written = [output.topic for output in subject.places if output.topic is not None]
    for name in said.topics:
        if not _TOPIC.fullmatch(name):
            raise BadTrial(
                f"--topic {name!r} is no name of a topic; expected letters, digits, dots, "
                "underscores and hyphens"
            )
    return dict.fromkeys(name for name in (*written, *said.topics) if name != said.topic)


def _subject(said: Said) -> OwnPipeline:
    identity = Rule.parse(said.identity)
    letters = None
    if said.dead_letters is not None:
        rule = Rule.parse(said.dead_letter_identity or said.identity)
        letters = Output.parse(said.dead_letters, rule)
    elif said.dead_letter_identity is not None:
        raise BadTrial(
            "--dead-letter-identity speaks of dead letters; say where with --dead-letters"
        )
    if said.upserts is not None:
        check_upserts(said)
    subject = OwnPipeline(
        command=said.command,
        folder=str(said.folder),
        outputs=tuple(Output.parse(text, identity) for text in said.outputs),
        orders=_orders(said),
        dead_letters=letters,
        upserts=Rule.parse(said.upserts) if said.upserts is not None else None,
    )
    check_places(said, subject)
    check_queues(said, subject)
    return subject


def _orders(said: Said) -> Orders:
    orders = Orders(
        topic=said.topic,
        records=said.records or RECORDS,
        effects=said.effects,
        effect_key=said.effect_key,
        upserts=said.upserts is not None,
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
    # A record without an identity is met here, and one that the function fails for.
    for producer in range(orders.producers):
        for _ in orders.expected(producer=producer, seed=0, sink=""):
            pass
        for _ in orders.contributed(producer=producer, seed=0, sink=""):
            pass
    if said.upserts is not None:
        check_spread(orders.keyed(seed=0))
    return orders


def _schedule(said: Said, *, spark: bool, queues: bool) -> tuple[At, ...]:
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
    return by_name(said.faults) if said.faults else preset(said.preset, spark=spark, queues=queues)


def _claim(guarantee: str, subject: OwnPipeline, output: Output, schedule: tuple[At, ...]) -> Claim:
    if guarantee not in CLAIMS:
        raise BadTrial(f"{guarantee!r} cannot be put on trial; there are {', '.join(CLAIMS)}")
    letters = subject.dead_letters
    return Claim(
        guarantee=guarantee,
        hop=Hop.PROCESS,
        scope=Scope(
            input=subject.orders.topic,
            sink=output.name,
            view=output.view,
            dead_letters=None if letters is None else letters.name,
        ),
        hazards=frozenset({REPLAYED} if subject.spark else _HAZARDS[guarantee]),
        fine_print=fine_print(guarantee, subject, output, schedule),
        expect=Expectation(verdict=Verdict.HOLDS),
    )
