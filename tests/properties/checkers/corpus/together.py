"""Outputs that are claimed to be atomic: who has effects where, and who may have none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.properties.checkers.corpus.base import CUT_SHORT, LEDGER, Sample, sample
from tests.properties.checkers.world import Trial

EVENTS: Final = Trial(topic="input", sink="events", view="topic")
AUDIT: Final = Trial(topic="input", sink="audit", view="table")


def _together(*trials: Trial, **more: Any) -> tuple[Trial, ...]:
    first, *others = (replace(trial, **more) for trial in trials)
    return (replace(first, others=tuple((o.sink, o.view) for o in others)), *others)


BOTH: Final = _together(LEDGER, EVENTS)
LETTERS: Final = _together(LEDGER, EVENTS, dead_letters="letters")


def _in(*sinks: str, **more: Any) -> list[dict[str, Any]]:
    """An effect of a in each of these sinks."""
    views = {"events": "topic", "letters": "topic"}
    return [{"record": "a", "sink": s, "view": views.get(s, "table"), **more} for s in sinks]


def _expected(*sinks: str) -> list[dict[str, Any]]:
    """What is optional, of each of these sinks; of others another record is stated."""
    return [
        {"record": "a" if sink in sinks else "other", "sink": sink, "optional": True}
        for sink in ("ledger", "events")
    ]


_A: Final = {"record": "a", "partition": 0, "offset": 6}
TORN: Final = {"torn-output": [{"record": "a", "sink": "ledger"}]}


def _of_two() -> Iterator[Sample]:
    may = _expected("ledger", "events")
    for tells, effects, finds in (
        ("effects in both", _in("ledger", "events"), {}),
        ("effects in neither", [], {}),
        ("effects in the first only", _in("ledger"), TORN),
        ("effects in the other only", _in("events", "events", effect_key=""),
         TORN | {"duplicate-output": [{"record": "a"}]}),
    ):  # fmt: skip
        yield sample(
            f"atomic: an input that may have none has {tells}",
            trials=BOTH,
            log=[_A],
            effects=effects,
            expected=may,
            finds=finds,
        )
    yield sample(
        "atomic: one of two effects in an output is enough",
        trials=BOTH,
        log=[_A],
        effects=[*_in("ledger", effect_key="x"), *_in("ledger", "events", effect_key="y")],
        expected=[e | {"effect_key": key} for e in may for key in "xy"],
    )
    yield sample(
        "atomic: an input that stands twice has one effect in each output",
        trials=BOTH,
        log=[_A, _A | {"offset": 7}],
        effects=_in("ledger", "events"),
        expected=may,
    )
    yield sample(
        "atomic: an output without effects must have none",
        trials=BOTH,
        log=[_A],
        effects=_in("ledger"),
        expected=_expected("ledger"),
    )
    yield sample(
        "atomic: nothing is stated, and an effect is missing",
        trials=BOTH,
        log=[_A],
        effects=_in("ledger"),
        finds=TORN | {"lost-output": [{"record": "a", "sink": "events"}]},
    )
    yield sample(
        "two outputs of which nobody claims that they are atomic",
        trials=(LEDGER, EVENTS),
        log=[_A],
        effects=_in("ledger"),
        expected=may,
    )
    yield sample(
        "atomic: an input that was never committed has effects in one output",
        trials=BOTH,
        log=[_A | {"committed": False}],
        effects=_in("ledger"),
        expected=may,
        finds={"unfounded-output": [{"record": "a"}]},
    )
    yield sample(
        "atomic: the run was cut short",
        trials=BOTH,
        log=[_A],
        effects=_in("ledger"),
        expected=may,
        phases=CUT_SHORT,
    )


def _of_others() -> Iterator[Sample]:
    yield sample(
        "atomic: two of three outputs have effects",
        trials=_together(LEDGER, EVENTS, AUDIT),
        log=[_A],
        effects=_in("events", "audit"),
        expected=[e | {"sink": sink} for e in _expected("ledger")[:1]
                  for sink in ("ledger", "events", "audit")],
        finds=TORN,
    )  # fmt: skip
    may = _expected("ledger", "events")
    for tells, effects, finds in (
        ("alone", _in("letters"), {}),
        ("beside an effect in one output", _in("letters", "ledger"),
         TORN | {"duplicate-output": [{"record": "a", "sink": "ledger"}]}),
    ):  # fmt: skip
        letters = [e | {"view": view} for e in effects if e["sink"] == "letters"
                   for view in ("table", "topic")]  # fmt: skip
        yield sample(
            f"atomic: a dead letter {tells}",
            trials=LETTERS,
            log=[_A],
            effects=[*letters, *(e for e in effects if e["sink"] != "letters")],
            expected=may,
            finds=finds,
        )
    for tells, log, start, undecided in (
        ("may have been dropped as late", [_A | {"lateness": "late"}], 0, False),
        ("was perhaps dropped as late", [_A | {"lateness": "unclear"}], 0, True),
        ("was deleted, and nobody knows whether it was read", [_A], 7, True),
        ("was deleted, and stands elsewhere", [_A, _A | {"offset": 8}], 7, False),
    ):
        yield sample(
            f"atomic: an input that one output lacks {tells}",
            trials=BOTH,
            log=log,
            partitions=[{"partition": 0, "log_start": start}],
            effects=_in("ledger"),
            expected=may,
            finds=TORN if len(log) > 1 else {},
            undecided={"torn-output"} if undecided else set(),
        )
    yield sample(
        "atomic: an output that is judged by its state",
        trials=BOTH,
        log=[_A],
        effects=_in("ledger"),
        expected=_expected("ledger"),
        contributions=[{"record": "a", "sink": "events", "state_key": "k", "amount": 1}],
        state=[{"sink": "events", "view": "topic", "state_key": "k", "amount": 1}],
        undecided={"torn-output"},
    )


SAMPLES: Final = (*_of_two(), *_of_others())
