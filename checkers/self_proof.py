"""The self-proof: wounded copies of this very history, in which every wound must be found.

The one thing to know: a check that finds nothing is worth only as much as its power to find. Each
wound picks a clean record of this history, changes one row of one table, and the finding of that
record must be new. Wounds of different records share one copy, so that the whole proof costs about
as much as judging did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from checkers.anomalies import anomalies
from checkers.engines.duckdb import Layer, answer_name
from checkers.history import History
from checkers.model import Hop, Value, Wound
from checkers.wounds import WOUNDS, Target, Wounding

_CANDIDATES = 12


@dataclass(kw_only=True)
class _Copy:
    """One wounded copy: its changed tables, and the wounds that it carries."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    wounds: list[tuple[Wounding, Target]] = field(default_factory=list)

    def takes(self, wounding: Wounding, target: Target) -> bool:
        """Whether a wound can be told apart from those that are here already."""
        return all(
            wounding.kind == other.kind and not (target.touches & taken.touches)
            for other, taken in self.wounds
        )


def prove(layer: Layer, history: History, hop: Hop, where: str) -> tuple[Wound, ...]:
    """Wound copies of the history in every way that fits the hop, and look for each wound.

    Args:
        layer: where the history was judged: the input's layer for the produce hop, the sink's for
            the process hop.
        history: the history that it holds.
        hop: produce or process.
        where: the scope in words, for the wounds' targets.
    """
    made: dict[str, Wound] = {}
    copies: list[_Copy] = []
    dirty = _dirty(hop)
    for wounding in WOUNDS:
        if wounding.hop is not hop or not wounding.applies(layer):
            continue
        targets = _targets(layer, wounding, dirty)
        if not targets:
            made[wounding.name] = _without_target(layer, wounding, where)
            continue
        copy, target = _place(copies, wounding, targets)
        table = copy.tables.get(wounding.table, history[wounding.table])
        copy.tables[wounding.table] = wounding.wound(table, target.row)
        copy.wounds.append((wounding, target))
    for copy in copies:
        with layer.above(copy.tables) as wounded:
            for wounding, target in copy.wounds:
                made[wounding.name] = _looked_for(wounded, wounding, target, where)
    return tuple(made[w.name] for w in WOUNDS if w.name in made)


def _place(
    copies: list[_Copy], wounding: Wounding, targets: Sequence[Target]
) -> tuple[_Copy, Target]:
    for copy in copies:
        for target in targets:
            if copy.takes(wounding, target):
                return copy, target
    copies.append(_Copy())
    return copies[-1], targets[0]


def _targets(layer: Layer, wounding: Wounding, dirty: str) -> list[Target]:
    """Where a wound can be made: rows without its finding; only clean records if there are any."""
    answer = answer_name(anomalies()[wounding.must_find])
    same = " AND ".join(f'f."{column}" = t."{column}"' for column in wounding.key)
    is_dirty = f"t.record IN ({dirty})" if wounding.of_records else "FALSE"
    order = f'dirty, t.record, t."{wounding.key[-1]}"' if wounding.of_records else "ALL"
    rows = layer.rows(
        f"SELECT t.*, {is_dirty} AS dirty FROM ({wounding.targets}) t "
        f"WHERE NOT EXISTS (SELECT 1 FROM {answer} f WHERE {same}) ORDER BY {order} "
        f"LIMIT {_CANDIDATES}"
    )
    clean = [row for row in rows if not row["dirty"]]
    return [Target(row=row, key={c: row[c] for c in wounding.key}) for row in clean or rows]


def _dirty(hop: Hop) -> str:
    """A query for all records with any finding of the hop."""
    return " UNION ".join(
        f"SELECT record FROM {answer_name(anomaly)}"
        for anomaly in anomalies().values()
        if anomaly.hop is hop and "record" in anomaly.key
    )


def _without_target(layer: Layer, wounding: Wounding, where: str) -> Wound:
    """Every place has the finding already, which proves as much; or there is no place at all."""
    anomaly = anomalies()[wounding.must_find]
    already = layer.number(f"SELECT count(*) FROM {answer_name(anomaly)}") > 0
    return Wound(
        name=wounding.name,
        target=where,
        must_find=wounding.must_find,
        found=already,
        detail="found without a wound: every record that it fits has this finding already"
        if already
        else f"there is nothing to wound in {wounding.table}",
    )


def _looked_for(wounded: Layer, wounding: Wounding, target: Target, where: str) -> Wound:
    found = wounded.has(anomalies()[wounding.must_find], target.key)
    named = _words(target.key)
    return Wound(
        name=wounding.name,
        target=f"{named} in {where}",
        must_find=wounding.must_find,
        found=found,
        detail=f"{wounding.must_find} was {'found' if found else 'not found'} for {named}",
    )


def _words(key: Mapping[str, Value]) -> str:
    hidden = ("sink", "view")
    return ", ".join(f"{n} {v}" for n, v in key.items() if n not in hidden and v != "")
