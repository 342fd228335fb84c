"""Outputs that are claimed to be atomic, and which of them have effects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.properties.checkers.corpus.base import CUT_SHORT, LEDGER, Sample, sample
from tests.properties.checkers.world import Trial

ORDERS: Final = Trial(topic="orders", sink="shelf", view="table")
EVENTS: Final = Trial(topic="input", sink="events", view="topic")
AUDIT: Final = Trial(topic="input", sink="audit", view="table")


def _atomic_group(*trials: Trial, **more: Any) -> tuple[Trial, ...]:
    first, *others = (replace(trial, **more) for trial in trials)
    return (replace(first, others=tuple((o.sink, o.view) for o in others)), *others)


BOTH: Final = _atomic_group(LEDGER, EVENTS)
LETTERS: Final = _atomic_group(LEDGER, EVENTS, dead_letters="letters")


def _effects_in(*sinks: str, **more: Any) -> list[dict[str, Any]]:
    """An effect of a in each of these sinks."""
    views = {"events": "topic", "letters": "topic"}
    return [{"record": "a", "sink": s, "view": views.get(s, "table"), **more} for s in sinks]


def _expected(*sinks: str) -> list[dict[str, Any]]:
    """Optional effects of a in these sinks; for the others another record is stated."""
    return [
        {"record": "a" if sink in sinks else "other", "sink": sink, "optional": True}
        for sink in ("ledger", "events")
    ]


_A: Final = {"record": "a", "partition": 0, "offset": 6}
_B: Final = {"record": "b", "partition": 0, "offset": 7}
TORN: Final = {"torn-output": [{"record": "a", "sink": "ledger"}]}


def _two_outputs() -> Iterator[Sample]:
    optional_effects = _expected("ledger", "events")
    for title, effects, finds in (
        ("effects in both", _effects_in("ledger", "events"), {}),
        ("effects in neither", [], {}),
        ("effects in the first only", _effects_in("ledger"), TORN),
        ("effects in the second only", _effects_in("events", "events", effect_key=""),
         TORN | {"duplicate-output": [{"record": "a"}]}),
    ):  # fmt: skip
        yield sample(
            f"atomic: an input that may have none has {title}",
            trials=BOTH,
            log=[_A],
            effects=effects,
            expected=optional_effects,
            finds=finds,
        )
    yield sample(
        "atomic: one of two effects in an output is enough",
        trials=BOTH,
        log=[_A],
        effects=[
            *_effects_in("ledger", effect_key="x"),
            *_effects_in("ledger", "events", effect_key="y"),
        ],
        expected=[e | {"effect_key": key} for e in optional_effects for key in "xy"],
    )
    yield sample(
        "atomic: an input at two positions has one effect in each output",
        trials=BOTH,
        log=[_A, _A | {"offset": 7}],
        effects=_effects_in("ledger", "events"),
        expected=optional_effects,
    )
    yield sample(
        "atomic: the output without effects expects none",
        trials=BOTH,
        log=[_A],
        effects=_effects_in("ledger"),
        expected=_expected("ledger"),
    )
    yield sample(
        "atomic: no effects are stated, and one is missing",
        trials=BOTH,
        log=[_A],
        effects=_effects_in("ledger"),
        finds=TORN | {"lost-output": [{"record": "a", "sink": "events"}]},
    )
    yield sample(
        "two outputs that are not claimed to be atomic",
        trials=(LEDGER, EVENTS),
        log=[_A],
        effects=_effects_in("ledger"),
        expected=optional_effects,
    )
    yield sample(
        "atomic: an input that was never committed has effects in one output",
        trials=BOTH,
        log=[_A | {"committed": False}],
        effects=_effects_in("ledger"),
        expected=optional_effects,
        finds={"unfounded-output": [{"record": "a"}]},
    )
    yield sample(
        "atomic: the run was cut short",
        trials=BOTH,
        log=[_A],
        effects=_effects_in("ledger"),
        expected=optional_effects,
        phases=CUT_SHORT,
    )
    yield sample(
        "atomic: two effects in one output, and none of two in the other",
        trials=BOTH,
        log=[_A],
        effects=[e | {"effect_key": key} for e in _effects_in("ledger") for key in "xy"],
        expected=[e | {"effect_key": key} for e in optional_effects for key in "xy"],
        finds=TORN,
    )
    yield sample(
        "atomic: two inputs have effects in one output",
        trials=BOTH,
        log=[_A, _B],
        effects=[e | {"record": record} for e in _effects_in("ledger") for record in "ab"],
        expected=[e | {"record": record} for e in optional_effects for record in "ab"],
        finds={"torn-output": [{"record": "a"}, {"record": "b"}]},
    )


def _other_outputs() -> Iterator[Sample]:
    for title, sinks in (
        ("two of three outputs have effects", ("events", "audit")),
        ("one of three outputs has effects", ("ledger",)),
    ):
        yield sample(
            f"atomic: {title}",
            trials=_atomic_group(LEDGER, EVENTS, AUDIT),
            log=[_A],
            effects=_effects_in(*sinks),
            expected=[e | {"sink": sink} for e in _expected("ledger")[:1]
                      for sink in ("ledger", "events", "audit")],
            finds=TORN,
        )  # fmt: skip
    optional_effects = _expected("ledger", "events")
    for title, effects, finds in (
        ("alone", _effects_in("letters"), {}),
        ("with an effect in one output", _effects_in("letters", "ledger"),
         TORN | {"duplicate-output": [{"record": "a", "sink": "ledger"}]}),
    ):  # fmt: skip
        letters = [e | {"view": view} for e in effects if e["sink"] == "letters"
                   for view in ("table", "topic")]  # fmt: skip
        yield sample(
            f"atomic: a dead letter {title}",
            trials=LETTERS,
            log=[_A],
            effects=[*letters, *(e for e in effects if e["sink"] != "letters")],
            expected=optional_effects,
            finds=finds,
        )
    for title, log, start, undecided in (
        ("may have been dropped as late", [_A | {"lateness": "late"}], 0, False),
        ("with unclear lateness", [_A | {"lateness": "unclear"}], 0, True),
        ("was deleted, perhaps before it was read", [_A], 7, True),
        ("was deleted at one of two positions", [_A, _A | {"offset": 8}], 7, False),
    ):
        yield sample(
            f"atomic: an input missing in one output {title}",
            trials=BOTH,
            log=log,
            partitions=[{"partition": 0, "log_start": start}],
            effects=_effects_in("ledger"),
            expected=optional_effects,
            finds=TORN if len(log) > 1 else {},
            undecided={"torn-output"} if undecided else set(),
        )
    yield sample(
        "atomic: an output judged by its state",
        trials=BOTH,
        log=[_A],
        effects=_effects_in("ledger"),
        expected=_expected("ledger"),
        contributions=[{"record": "a", "sink": "events", "state_key": "k", "amount": 1}],
        state=[{"sink": "events", "view": "topic", "state_key": "k", "amount": 1}],
        undecided={"torn-output"},
    )


def _other_inputs() -> Iterator[Sample]:
    """a has effects in one output only; b, and a in another topic, do not matter to it."""
    optional_effects = _expected("ledger", "events")
    late, unclear = {"lateness": "late"}, {"lateness": "unclear"}
    in_orders = {"topic": "orders"}
    shelved = {"record": "a", "sink": "shelf"}
    for title, log, undecided in (
        ("certain", [_A, _A | in_orders], False),
        ("late, and in the other topic of unclear lateness",
         [_A | late, _A | in_orders | unclear], False),
        ("of unclear lateness, and in the other topic certain",
         [_A | unclear, _A | in_orders], True),
    ):  # fmt: skip
        yield sample(
            f"atomic: an input that is also in another topic is {title}",
            trials=(*BOTH, ORDERS),
            log=log,
            effects=[*_effects_in("ledger"), shelved],
            expected=[*optional_effects, shelved | {"optional": True}],
            finds=TORN if log[0] == _A else {},
            undecided={"torn-output"} if undecided else (),
        )
    effects_of_b = [e | {"record": "b"} for e in _effects_in("ledger", "events")]
    for title, log, effects, undecided in (
        ("late, and another one of unclear lateness", [_A | late, _B | unclear], effects_of_b,
         False),
        ("of unclear lateness, and another one is certain", [_A | unclear, _B], effects_of_b, True),
        ("of unclear lateness, and so is another one that misses an effect",
         [_A | unclear, _B | unclear], effects_of_b[:1], True),
    ):  # fmt: skip
        yield sample(
            f"atomic: an input is {title}",
            trials=BOTH,
            log=log,
            effects=[*_effects_in("ledger"), *effects],
            expected=[e | {"record": record} for e in optional_effects for record in "ab"],
            undecided={"torn-output"} if undecided else (),
        )
    yield sample(
        "atomic: no effects are stated, and an input with an effect in one output was deleted",
        trials=BOTH,
        sends=[_A | {"attempt": "a/1"}],
        partitions=[{"partition": 0, "log_start": 7}],
        effects=_effects_in("ledger"),
        undecided={"lost-output", "lost-write", "torn-output", "unfounded-output"},
    )


SAMPLES: Final = (*_two_outputs(), *_other_outputs(), *_other_inputs())
