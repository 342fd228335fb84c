"""States computed from inputs: sums, counts and last values, with some records sent twice.

By default records are in partition 0 and each has its own digest. The samples vary the order and
what the sink contains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.properties.checkers.corpus.base import JOURNAL, LEDGER, ONCE, Sample, sample
from tests.properties.checkers.world import Trial

OTHER: Final = Trial(topic="input", sink="ledger", view="other")


def _log(*places: tuple[str, int] | tuple[str, int, int]) -> list[dict[str, Any]]:
    """Log entries by record, offset and partition."""
    return [{"record": r, "offset": o, "partition": p[0] if p else 0} for r, o, *p in places]


def _last(record: str, digest: str | None = None, **more: Any) -> dict[str, Any]:
    """The contribution of a record that wins if it is the last."""
    return {"record": record, "operation": "last", "digest": digest or f"d-{record}", **more}


def _last_values() -> Iterator[Sample]:
    wrong = {"state-mismatch": [{"state_key": "key"}]}
    both = [_last("a"), _last("b")]
    for title, trials, log, state, finds in (
        ("the record before the resent one", (LEDGER,), _log(("a", 0), ("b", 3), ("a", 5)),
         "d-b", wrong),
        ("the record before the resent one, deduplicated", (ONCE,),
         _log(("a", 0), ("b", 3), ("a", 5)), "d-b", {}),
        ("the record before the resent one, on both trials", (LEDGER, ONCE),
         _log(("a", 0), ("b", 3), ("a", 5)), "d-b", wrong),
        ("the first record", (LEDGER,), _log(("a", 0), ("b", 3)), "d-a", wrong),
        ("the first record, deduplicated", (ONCE,), _log(("a", 0), ("b", 3)), "d-a",
         wrong),
        ("the first record in both views", (LEDGER, OTHER), _log(("a", 0), ("b", 3)), "d-a",
         {"state-mismatch": [{"view": "table"}, {"view": "other"}]}),
        ("the first record of its partition", (LEDGER,),
         _log(("c", 0), ("a", 1, 1), ("b", 3, 1)), "d-a", wrong),
        ("an unknown digest", (LEDGER,), _log(("c", 0), ("a", 1, 1), ("b", 3, 1)), "d-x", wrong),
        ("the record before one resent to another partition", (ONCE,),
         _log(("a", 5), ("a", 7, 1), ("b", 2)), "d-b", {}),
        ("the only record of a partition, resent to another", (ONCE,),
         _log(("a", 1), ("a", 7, 1), ("b", 5)), "d-a", {}),
    ):  # fmt: skip
        yield sample(
            f"last value of a key: {title}",
            trials=trials,
            log=log,
            contributions=[*both, _last("c")],
            state=[{"digest": state, "view": trial.view} for trial in dict.fromkeys(
                Trial(topic="", sink="", view=t.view) for t in trials)],
            finds=finds,
        )  # fmt: skip


def _separate_aggregates() -> Iterator[Sample]:
    """Two keys or two aggregates that must not be confused."""
    for name in ("aggregate", "state_key"):
        one, other = {name: "a-one"}, {name: "b-other"}
        for title, log, added, state, finds in (
            ("the other ends later", _log(("a", 0), ("b", 3), ("c", 5)),
             [_last("a", **one), _last("b", **one), _last("c", **other)],
             ("d-b", "d-c"), ()),
            ("the other ends earlier", _log(("c", 0), ("a", 1), ("b", 3)),
             [_last("a", **one), _last("b", **one), _last("c", **other)],
             ("d-a", "d-c"), (one,)),
            ("each has the other's value", _log(("a", 0), ("b", 1)),
             [_last("a", **one), _last("b", **other)],
             ("d-b", "d-a"), (one, other)),
            ("they have the same inputs", _log(("a", 0), ("b", 3)),
             [_last("a", **one), _last("b", **one), _last("a", **other), _last("b", **other)],
             ("d-a", "d-a"), (one, other)),
        ):  # fmt: skip
            yield sample(
                f"last values by {name}: {title}",
                log=log,
                contributions=added,
                state=[{**one, "digest": state[0]}, {**other, "digest": state[1]}],
                finds={"state-mismatch": finds},
            )
        yield sample(
            f"two sums by {name}",
            log=_log(("a", 0)),
            contributions=[
                {"record": "a", "amount": 5, **one},
                {"record": "a", "amount": 2, **other},
            ],
            state=[{"amount": 5, **one}, {"amount": 2, **other}],
        )


def _unknown_values() -> Iterator[Sample]:
    yield sample(
        "of two deleted keys one is still present",
        log=_log(("a", 0), ("b", 1)),
        contributions=[
            {"record": "a", "operation": "last"},
            {"record": "b", "operation": "last", "state_key": "gone"},
        ],
        state=[{"digest": "d"}],
        finds={"state-mismatch": [{"state_key": "key"}]},
    )
    for operation, finds, undecided in (
        ("sum", (), ["state-mismatch"]), ("min", (), ["state-mismatch"]),
        ("max", (), ["state-mismatch"]), ("count", ({"state_key": "key"},), []),
    ):  # fmt: skip
        yield sample(
            f"a {operation} with an unknown amount",
            log=_log(("a", 0), ("b", 1)),
            contributions=[
                {"record": "a", "operation": operation},
                {"record": "b", "operation": operation, "amount": 2},
            ],
            state=[{"amount": 7}],
            finds={"state-mismatch": finds},
            undecided=undecided,
        )
        yield sample(
            f"a {operation} whose state is not a number",
            log=_log(("a", 0)),
            contributions=[{"record": "a", "operation": operation, "amount": 2}],
            state=[{"digest": "d"}],
            finds={"state-mismatch": [{"state_key": "key"}]},
        )
    yield sample(
        "a sum whose state is unknown",
        log=_log(("a", 0)),
        contributions=[{"record": "a", "amount": 2}],
        state=[{}],
    )
    yield sample(
        "minimum and maximum of three amounts",
        log=_log(("a", 0), ("b", 1), ("c", 2)),
        contributions=[
            {"record": record, "amount": amount, "aggregate": operation, "operation": operation}
            for record, amount in (("a", 5), ("b", 2), ("c", 7))
            for operation in ("min", "max")
        ],
        state=[{"aggregate": "min", "amount": 2}, {"aggregate": "max", "amount": 7}],
    )
    yield sample(
        "a record sent twice is added twice, or once if deduplicated",
        trials=(LEDGER, ONCE),
        log=_log(("a", 0), ("a", 1)),
        contributions=[{"record": "a", "amount": 5}],
        state=[{"amount": 10}],
        finds={"state-mismatch": [{"state_key": "key"}]},
    )
    yield sample(
        "a sum of equal amounts",
        log=_log(("a", 0), ("b", 1)),
        contributions=[{"record": "a", "amount": 5}, {"record": "b", "amount": 5}],
        state=[{"amount": 5}],
        finds={"state-mismatch": [{"state_key": "key"}]},
    )
    yield sample(
        "a journal is judged by its changes, not by its state",
        trials=(JOURNAL,),
        log=_log(("a", 0)),
        journal=[{"record": "a"}],
        contributions=[{"record": "a", "amount": 5}],
        state=[{"view": "journal", "amount": 99}],
    )


SAMPLES: Final = (*_last_values(), *_separate_aggregates(), *_unknown_values())
