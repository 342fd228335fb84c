"""Parse claims from a command line, or derive all claims that a history has tables for.

A claim is `GUARANTEE:STRETCH`, with the stretch as in a claim's name and `->` for the arrow (quote
it in a shell):

    exactly-once:payments                              producers → payments
    "exactly-once:payments->ledger@table"              payments → ledger, as view `table` shows it
    "exactly-once:producers->payments->ledger@table"   producers → ledger, through payments
    "atomic:payments->ledger@table+events@topic"       payments → ledger and events, all or none

The view may be omitted if a sink has only one. Options follow a comma: `deduplicates`,
`dead-letters=SINK` and `hazard=KIND`, the last as often as needed.
"""

from __future__ import annotations

from typing import Final

import pyarrow.compute as pc

from onceproof.checkers.claims import ATOMIC, ORDERED, BadClaim
from onceproof.checkers.fine_print import standard_fine_print
from onceproof.checkers.history import History
from onceproof.checkers.imports.errors import closest
from onceproof.checkers.model import Claim, Hop, Scope
from onceproof.checkers.refutations import GUARANTEES, HOPS

__all__ = ["all_claims", "claim_text", "parse_claim"]

_PRODUCERS: Final = "producers"
_JOURNAL: Final = "journal"
"""The view that combines all readers."""


def parse_claim(text: str, history: History) -> Claim:
    """Parse a claim about a history.

    Raises:
        BadClaim: the claim is malformed, or names something that the history does not have.
    """
    claimed, *options = text.split(",")
    guarantee, colon, stretch = claimed.partition(":")
    if not colon:
        raise _bad(text, "GUARANTEE:TOPIC or GUARANTEE:TOPIC->SINK@VIEW")
    if guarantee not in GUARANTEES:
        raise _bad(text, f"a guarantee of {', '.join(GUARANTEES)}", closest(guarantee, GUARANTEES))
    parts = stretch.split("->", 2)
    if len(parts) == 3 and parts[0] != _PRODUCERS:
        raise _bad(text, f"`{_PRODUCERS}->` before topic and sink")
    hop = {1: Hop.PRODUCE, 2: Hop.PROCESS, 3: Hop.END_TO_END}[len(parts)]
    if hop not in HOPS.get(guarantee, Hop):
        raise _bad(text, f"{guarantee}:TOPIC, because {guarantee} is about a topic")
    together = guarantee == ATOMIC and hop is Hop.PROCESS
    written = parts[-1].split("+") if together else parts[-1:]
    if together and len(written) < 2:
        raise _bad(text, f"two or more sinks, as in {ATOMIC}:payments->ledger@table+events@topic")
    topic = parts[0] if hop is Hop.PRODUCE else parts[-2]
    _check_topic(text, topic, history)
    sink, view = (None, None) if hop is Hop.PRODUCE else _sink(text, written[0], history)
    others = tuple(_sink(text, other, history) for other in written[1:])
    dead_letters, hazards, deduplicates = None, set(), False
    for option in options:
        name, _, value = option.partition("=")
        if name == "deduplicates" and not value:
            deduplicates = True
        elif name == "dead-letters" and value:
            dead_letters, _ = _sink(text, f"{value}@{view}", history)
        elif name == "hazard" and value:
            hazards.add(value)
        else:
            raise _bad(text, "deduplicates, dead-letters=SINK or hazard=KIND after a comma")
    if hop is Hop.PRODUCE and (dead_letters or deduplicates):
        raise _bad(text, "a sink, because only sinks can have deduplicates and dead-letters")
    scope = Scope(input=topic, sink=sink, view=view, dead_letters=dead_letters, others=others)
    return _claim(guarantee, hop, scope, frozenset(hazards), deduplicates)


def claim_text(claim: Claim) -> str:
    """Return a claim about one output, or about producers, so that `parse_claim` can parse it."""
    of = claim.scope
    if claim.hop is Hop.PRODUCE:
        return f"{claim.guarantee}:{of.input}"
    producers = f"{_PRODUCERS}->" if claim.hop is Hop.END_TO_END else ""
    return f"{claim.guarantee}:{producers}{of.input}->{of.sink}@{of.view}"


def all_claims(history: History) -> tuple[Claim, ...]:
    """Return every claim that the history has tables for.

    `ordered` and `atomic` are not claimed of sinks: only the user knows whether a sink is ordered,
    and which sinks belong together.

    Raises:
        BadClaim: the history has neither sends nor outputs.
    """
    claims = []
    written_in_txns = (
        history.distinct("sends", ["topic"], where_known="txn") if history.rows("txns") else set()
    )
    read = {topic for (topic,) in _distinct(history, "reads", "topic")}
    speaks_of = {
        "atomic": {topic for (topic,) in written_in_txns},
        "ordered": read,
    }
    for (topic,) in _distinct(history, "sends", "topic"):
        claims += [
            _claim(guarantee, Hop.PRODUCE, Scope(input=topic))
            for guarantee in GUARANTEES
            if topic in speaks_of.get(guarantee, {topic})
        ]
    for topic, sink, view in _stretches(history):
        claims += [
            _claim(guarantee, Hop.PROCESS, Scope(input=topic, sink=sink, view=view))
            for guarantee in GUARANTEES
            if Hop.PROCESS in HOPS.get(guarantee, Hop) and guarantee not in (ATOMIC, ORDERED)
        ]
    if not claims:
        raise BadClaim(
            f"{history.source}: expected rows in sends (what was sent), or in effects, journal or "
            "state (what was written), found none, so there is nothing to claim."
        )
    return tuple(claims)


def _stretches(history: History) -> list[tuple[str, str, str]]:
    """Return (topic, sink, view) of all outputs; unnamed topics are inferred from the records."""
    found: set[tuple[str, str, str]] = set()
    for table, sink, view in _outputs(history):
        if table == "state":
            topics = _topics_of(history, "contributions", sink)
        else:
            named = history.distinct(table, ["sink", "source_topic"])
            topics = {topic for to, topic in named if to == sink and topic is not None}
            topics = topics or _topics_of(history, table, sink)
        found |= {(topic, sink, view) for topic in topics}
    return sorted(found)


def _outputs(history: History) -> list[tuple[str, str, str]]:
    return [
        *(("effects", s, v) for s, v in _distinct(history, "effects", "sink", "view")),
        *(("journal", s, _JOURNAL) for (s,) in _distinct(history, "journal", "sink")),
        *(("state", s, v) for s, v in _distinct(history, "state", "sink", "view")),
    ]


def _topics_of(history: History, table: str, sink: str) -> set[str]:
    """Return the topics with records that a table has of a sink, preferably excluding sinks."""
    rows, log = history[table], history["log"]
    records = pc.drop_null(pc.unique(rows["record"].filter(pc.equal(rows["sink"], sink))))
    from_log = log.filter(pc.is_in(log["record"], value_set=records))
    topics = set(pc.unique(from_log["topic"]).to_pylist()) - {sink}
    return topics - {one for _, one, _ in _outputs(history)} or topics


def _distinct(history: History, table: str, *columns: str) -> list[tuple[str, ...]]:
    """Return the sorted distinct values of columns; NULL becomes empty text."""
    found = history.distinct(table, columns)
    return sorted({tuple(value or "" for value in values) for values in found})


def _check_topic(text: str, topic: str, history: History) -> None:
    known = {t for table in ("sends", "log") for (t,) in _distinct(history, table, "topic")}
    if topic in known:
        return
    hint = closest(topic, known)
    if topic.endswith("-"):
        hint = " Put the claim in quotes, because the shell interprets `>`."
    raise _bad(text, f"a topic of the history ({', '.join(sorted(known)) or 'it has none'})", hint)


def _sink(text: str, written: str, history: History) -> tuple[str, str]:
    sink, at, view = written.rpartition("@")
    if not at:
        sink = written
    known = {(s, v) for _, s, v in _outputs(history)}
    views = sorted(v for s, v in known if s == sink)
    if not views:
        sinks = sorted({s for s, _ in known})
        raise _bad(
            text, f"a sink of the history ({', '.join(sinks) or 'none'})", closest(sink, sinks)
        )
    if not at and len(views) == 1:
        return sink, views[0]
    if view not in views:
        raise _bad(text, f"a view of {sink} after @ ({', '.join(views)})", closest(view, views))
    return sink, view


def _claim(
    guarantee: str,
    hop: Hop,
    scope: Scope,
    hazards: frozenset[str] = frozenset(),
    deduplicates: bool = False,
) -> Claim:
    return Claim(
        guarantee=guarantee,
        hop=hop,
        scope=scope,
        fine_print=standard_fine_print(guarantee, hop),
        hazards=hazards,
        deduplicates=deduplicates,
    )


def _bad(text: str, expected: str, hint: str = "") -> BadClaim:
    return BadClaim(f"claim {text}: expected {expected}.{hint}")
