"""Convert claims to plain JSON and back, so that a run can be judged again later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onceproof.checkers.model import Claim, Expectation, FinePrint, Hop, Scope, Verdict
from onceproof.checkers.refutations import GUARANTEES, HOPS

_FINE_PRINT = ("promise", "failures", "guarantee", "not_tested")


class BadClaim(ValueError):
    """A claim that cannot be judged as written; the message says what was expected."""


def claim_to_json(claim: Claim) -> dict[str, Any]:
    return {
        "guarantee": claim.guarantee,
        "hop": claim.hop.value,
        "scope": {
            "input": claim.scope.input,
            "sink": claim.scope.sink,
            "view": claim.scope.view,
            "dead_letters": claim.scope.dead_letters,
            "others": [{"sink": sink, "view": view} for sink, view in claim.scope.others],
        },
        "fine_print": {name: getattr(claim.fine_print, name) for name in _FINE_PRINT}
        | {"covers": sorted(claim.fine_print.covers)},
        "hazards": sorted(claim.hazards),
        "deduplicates": claim.deduplicates,
        "expect": None
        if claim.expect is None
        else {
            "verdict": claim.expect.verdict.value,
            "anomalies": sorted(claim.expect.anomalies),
            "may": sorted(claim.expect.may),
        },
    }


def claim_from_json(data: Mapping[str, Any]) -> Claim:
    """Restore a claim that `claim_to_json` wrote.

    Raises:
        BadClaim: a field is missing or invalid; the message names it.
    """
    scope = _part(data, "scope")
    fine_print = _part(data, "fine_print")
    guarantee = _text(data, "guarantee")
    if guarantee not in GUARANTEES:
        raise _bad("guarantee", f"one of {', '.join(GUARANTEES)}", guarantee)
    hop = Hop(_one_of(data, "hop", tuple(Hop)))
    if hop not in HOPS.get(guarantee, frozenset(Hop)):
        raise _bad("hop", f"one of {', '.join(sorted(HOPS[guarantee]))}", hop.value)
    return Claim(
        guarantee=guarantee,
        hop=hop,
        scope=Scope(
            input=_text(scope, "input"),
            sink=_text_or_none(scope, "sink"),
            view=_text_or_none(scope, "view"),
            # Missing in runs recorded before there were dead letters.
            dead_letters=_text_or_none({"dead_letters": None, **scope}, "dead_letters"),
            others=_others(scope, expected=guarantee == "atomic" and hop is Hop.PROCESS),
        ),
        fine_print=FinePrint(
            **{name: _text(fine_print, name) for name in _FINE_PRINT},
            covers=_texts(fine_print, "covers"),
        ),
        hazards=_texts(data, "hazards"),
        deduplicates=_flag(data, "deduplicates"),
        expect=_expectation(data),
    )


def _others(scope: Mapping[str, Any], *, expected: bool) -> tuple[tuple[str, str], ...]:
    found = scope.get("others", [])
    if not isinstance(found, list | tuple) or bool(found) is not expected:
        raise _bad("others", "a list of other sinks" if expected else "an empty list", found)
    return tuple((_text(other, "sink"), _text(other, "view")) for other in found)


def _expectation(data: Mapping[str, Any]) -> Expectation | None:
    if data.get("expect") is None:
        return None
    expect = _part(data, "expect")
    return Expectation(
        verdict=Verdict(_one_of(expect, "verdict", tuple(Verdict))),
        anomalies=_texts(expect, "anomalies"),
        # Missing in runs of earlier versions.
        may=_texts({"may": [], **expect}, "may"),
    )


def _bad(name: str, expected: str, found: object) -> BadClaim:
    return BadClaim(
        f"claim: field `{name}`: expected {expected}, found {found!r}. Write claims with "
        "`claim_to_json`."
    )


def _field(data: Mapping[str, Any], name: str, expected: str) -> Any:
    if not isinstance(data, Mapping):
        raise BadClaim(f"claim: expected a JSON object, found {data!r}")
    if name not in data:
        raise BadClaim(f"claim: field `{name}` is missing; expected {expected}")
    return data[name]


def _part(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = _field(data, name, "an object")
    if not isinstance(value, Mapping):
        raise _bad(name, "an object", value)
    return value


def _text(data: Mapping[str, Any], name: str) -> str:
    value = _field(data, name, "a string")
    if not isinstance(value, str):
        raise _bad(name, "a string", value)
    return value


def _text_or_none(data: Mapping[str, Any], name: str) -> str | None:
    value = _field(data, name, "a string or null")
    if value is not None and not isinstance(value, str):
        raise _bad(name, "a string or null", value)
    return value


def _texts(data: Mapping[str, Any], name: str) -> frozenset[str]:
    value = _field(data, name, "a list of strings")
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise _bad(name, "a list of strings", value)
    return frozenset(value)


def _flag(data: Mapping[str, Any], name: str) -> bool:
    value = _field(data, name, "true or false")
    if not isinstance(value, bool):
        raise _bad(name, "true or false", value)
    return value


def _one_of(data: Mapping[str, Any], name: str, values: tuple[str, ...]) -> str:
    value = _text(data, name)
    if value not in values:
        raise _bad(name, f"one of {', '.join(values)}", value)
    return value
