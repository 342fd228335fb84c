"""A finding as a table row, with only what differs from the similar finding shown in full above."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.reports.model import Finding
from onceproof.reports.model_story import Effect, Entry, Send
from onceproof.reports.text import seconds

_MOST = 3


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """One finding in one row."""

    sentence: str
    at: str
    sent: tuple[str, ...]
    logged: tuple[str, ...]
    written: tuple[str, ...]


def brief(finding: Finding) -> FindingRow:
    path = finding.path
    return FindingRow(
        sentence=finding.sentence,
        at=seconds(finding.at),
        sent=_first([_sent(send) for send in path.sends], path.sends_count) if path else (),
        logged=_first([_logged(e) for e in path.entries], path.entries_count) if path else (),
        written=_first([_written(e) for e in path.effects], path.effects_count) if path else (),
    )


def _first(parts: list[str], count: int) -> tuple[str, ...]:
    shown = parts[:_MOST]
    more = count - len(shown)
    return (*shown, f"and {more} more") if more > 0 else tuple(shown)


def _sent(send: Send) -> str:
    txn = f", {send.transaction.txn}: {send.transaction.outcome}" if send.transaction else ""
    return f"{send.attempt} {send.outcome} {seconds(send.called_at)}{txn}"


def _logged(entry: Entry) -> str:
    committed = "" if entry.committed else " not committed"
    return f"{entry.topic}-{entry.partition}@{entry.offset}{_stamp(entry)}{committed}"


def _written(effect: Effect) -> str:
    batch = "" if effect.batch is None else f" batch {effect.batch}"
    return f"{effect.position}{batch}{_stamp(effect.entry) if effect.entry else ''}"


def _stamp(entry: Entry) -> str:
    """Return producer id, epoch and sequence, such as ` (1000/1/0)`."""
    if entry.producer_id is None or entry.producer_id < 0:
        return ""
    return f" ({entry.producer_id}/{entry.epoch}/{entry.sequence})"
