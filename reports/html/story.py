"""Tell a finding as a short story: what happened to the record, and what may have caused it.

Sentences are composed with `Markup.format`, which escapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from onceproof.reports.html.names import name
from onceproof.reports.model import Cause, Fault, Finding
from onceproof.reports.model_story import Effect, Entry, Path
from onceproof.reports.text import number, plural, seconds, sentence, times, visible

_NAMED = 3


def story(finding: Finding) -> Markup | None:
    """Return the record's path in two sentences; None if the finding is not about one record."""
    path = finding.path
    if path is None:
        return None
    sentences = [_sent(path), _appears(path)]
    return Markup(" ").join(sentences)


def cause_story(cause: Cause, faults: Sequence[Fault]) -> Markup:
    """Describe a hazard, and the fault that caused it."""
    when = f"At {seconds(cause.at)}: " if cause.at is not None else ""
    detail = f": {sentence(visible(cause.detail))}" if cause.detail else "."
    text = Markup("{}<strong>{}</strong>{}").format(when, visible(cause.hazard), detail)
    if cause.fault is None:
        return text
    number_, fault = next(
        ((i, f) for i, f in enumerate(faults, 1) if f.fault == cause.fault), (0, None)
    )
    if fault is None:
        return text + Markup(" Caused by fault {}.").format(name(cause.fault))
    done = f" ({seconds(fault.injected_at)})" if fault.injected_at is not None else ""
    return text + Markup(' Caused by <a href="#fault-{}">F{}</a>, {}{}.').format(
        number_, number_, visible(fault.description).rstrip("."), done
    )


def _sent(path: Path) -> Markup:
    record = name(path.record)
    if not path.sends_count:
        return Markup("No send of record {} was recorded.").format(record)
    text = Markup("Record {} was sent {}").format(record, times(path.sends_count))
    attempts = _join((_attempt(path, i) for i in range(len(path.sends))), path.sends_count)
    return text + Markup(" ({}).").format(attempts)


def _attempt(path: Path, place: int) -> Markup:
    send = path.sends[place]
    outcome = {
        "ok": "acknowledged",
        "fail": "rejected, not written",
        "info": "outcome unknown",
    }.get(send.outcome, visible(send.outcome))
    at = f" at {seconds(send.called_at)}" if send.called_at is not None else ""
    return Markup("attempt {}{}, {}").format(name(send.attempt), at, outcome)


def _appears(path: Path) -> Markup:
    committed = [entry for entry in path.entries if entry.committed]
    rest = path.entries_count - len(committed)
    if path.entries_count > len(path.entries):  # truncated: only the total is certain
        text = Markup("It appears {} in the input").format(times(path.entries_count))
    elif committed:
        places = _join((_place(entry) for entry in committed), len(committed))
        text = Markup("It appears {} in the input, at {}").format(times(len(committed)), places)
        if rest:
            text += f" (and {times(rest)} uncommitted)"
    elif rest:
        text = Markup("It appears {} in the input, uncommitted").format(times(rest))
    else:
        text = Markup("It is not in the input")
    if not path.sinks:
        return text + "."
    effects = [_in_sink(path, sink) for sink in path.sinks]
    return text + Markup(", and {}.").format(Markup("; ").join(effects))


def _in_sink(path: Path, sink: str) -> Markup:
    mine = [effect for effect in path.effects if effect.sink == sink]
    complete = path.effects_count == len(path.effects)
    if not mine:
        return Markup("not at all in {}").format(name(sink))
    views = sorted({effect.view for effect in mine if effect.view})
    if len(views) > 1:  # two views of one effect are not two effects
        parts = [_in_view(sink, view, mine) for view in views]
        return Markup(", ").join(parts)
    count = times(len(mine)) if complete else f"at least {times(len(mine))}"
    return Markup("{} in {}, at {}{}").format(count, name(sink), _positions(mine), _written(mine))


def _in_view(sink: str, view: str, effects: Sequence[Effect]) -> Markup:
    mine = [effect for effect in effects if effect.view == view]
    return Markup("{} in {} as seen by {}").format(times(len(mine)), name(sink), name(view))


def _positions(effects: Sequence[Effect]) -> Markup:
    return _join((name(effect.position) for effect in effects), len(effects))


def _written(effects: Sequence[Effect]) -> str:
    """Return who wrote the effects, such as `, both written by micro-batch 7`."""
    batches = [effect.batch for effect in effects if effect.batch is not None]
    if len(batches) < len(effects):
        return ""
    distinct = sorted(set(batches))
    if len(distinct) > 1:
        shown = ", ".join(number(batch) for batch in distinct[:_NAMED])
        more = len(distinct) - _NAMED
        return f", written by micro-batches {shown}" + (f" and {more} more" if more > 0 else "")
    quantifier = {1: "", 2: "both "}.get(len(effects), "all ")
    return f", {quantifier}written by micro-batch {number(distinct[0])}"


def _place(entry: Entry) -> Markup:
    return name(f"{entry.topic}-{entry.partition}@{entry.offset}")


def _join(parts: Iterable[Markup], count: int) -> Markup:
    """Join the first few parts, and say how many more there are."""
    shown = [part for part, _ in zip(parts, range(_NAMED), strict=False)]
    if count > len(shown):
        shown.append(escape(plural(count - len(shown), "more", "more")))
    if len(shown) == 1:
        return shown[0]
    return Markup(", ").join(shown[:-1]) + Markup(" and ") + shown[-1]
