"""The self-proof: wounded copies of this very history, in which every wound must be found.

The one thing to know: a check that finds nothing is worth only as much as its power to find. A
sample of this history's records is taken out, with everything that was written down about them.
Each wound picks a clean record of the sample, changes a row or two of one table, and the finding of
that record must be new. Wounds of different records share one copy. Records are compared one by
one, so what is found in the sample would be found in the whole, and the proof costs the same for a
thousand records and for a hundred million. What is known of the history as a whole (whether
effects name their input's position, say) stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from checkers.anomalies import anomalies
from checkers.engines.everything import without_screen
from checkers.engines.layer import Layer, answer_name
from checkers.model import Hop, Value, Wound
from checkers.trials import nobody
from checkers.wounds import Target, Wounding, woundings

_CANDIDATES: Final = 12
_OF_THE_WHOLE: Final = (
    "by_state", "judging_mode", "log_traits", "send_counts", "sink_owners", "sink_traits", "stated",
)  # fmt: skip
"""Relations that say something of the history as a whole."""


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


def prove(
    layer: Layer,
    sample: Mapping[str, pa.Table],
    stretch: tuple[Hop, int],
    wanted: frozenset[str],
    where: str,
) -> tuple[Wound, ...]:
    """Wound copies of the history in every way that fits the hop, and look for each wound.

    Args:
        layer: where the history was judged.
        sample: what `checkers.sample.taken_out` took out of it.
        stretch: the hop, and the number of the trial on it.
        wanted: names of the anomalies that are looked for; others need no proof.
        where: the stretch in words, for the wounds' targets.
    """
    hop, trial = stretch
    chosen = [w for w in woundings() if w.hop is hop and w.must_find in wanted]
    made: dict[str, Wound] = {}
    with (
        # Nobody is a suspect for being in the sample: the screen has to prove itself as well.
        layer.above({**sample, "sampled": nobody()}, None, _OF_THE_WHOLE) as extract,
        extract.above({}, without_screen(layer.queries)) as unscreened,
    ):
        copies: list[_Copy] = []
        dirty = _dirty(hop, wanted)
        for wounding in chosen:
            whole = layer if wounding.of_the_whole else unscreened
            if not wounding.applies(whole, trial):
                continue
            targets = _targets(whole, wounding, trial, dirty)
            if not targets:
                made[wounding.name] = _without_target(whole, wounding, trial, where)
                continue
            if wounding.of_the_whole:
                changed = {wounding.table: _wounded_table(layer, wounding, targets[0], {})}
                with layer.above(changed) as wounded:
                    made[wounding.name] = _looked_for(wounded, wounding, targets[0], trial, where)
                continue
            copy, target = _place(copies, wounding, targets)
            copy.tables[wounding.table] = _wounded_table(extract, wounding, target, copy.tables)
            copy.wounds.append((wounding, target))
        for copy in copies:
            with extract.above(copy.tables) as wounded:
                for wounding, target in copy.wounds:
                    made[wounding.name] = _looked_for(wounded, wounding, target, trial, where)
    return tuple(made[w.name] for w in chosen if w.name in made)


def _wounded_table(
    layer: Layer, wounding: Wounding, target: Target, tables: Mapping[str, pa.Table]
) -> pa.Table:
    table = tables.get(wounding.table)
    if table is None:
        table = layer.arrow(f"SELECT * FROM {wounding.table}")
    return wounding.wound(table, target.row)


def _place(
    copies: list[_Copy], wounding: Wounding, targets: Sequence[Target]
) -> tuple[_Copy, Target]:
    for copy in copies:
        for target in targets:
            if copy.takes(wounding, target):
                return copy, target
    copies.append(_Copy())
    return copies[-1], targets[0]


def _targets(layer: Layer, wounding: Wounding, trial: int, dirty: str) -> list[Target]:
    """Where a wound can be made: rows without its finding; only clean records if there are any."""
    answer = answer_name(anomalies()[wounding.must_find])
    same = " AND ".join(f'f."{column}" = t."{column}"' for column in wounding.key)
    is_dirty = (
        f"t.record IN (SELECT record FROM ({dirty}) d WHERE d.trial = {trial})"
        if wounding.of_records and dirty
        else "FALSE"
    )
    order = ", ".join(["dirty", *(f't."{column}"' for column in wounding.order)])
    rows = layer.rows(
        f"SELECT t.*, {is_dirty} AS dirty FROM ({wounding.targets}) t "
        f"WHERE t.trial = {trial} "
        f"AND NOT EXISTS (SELECT 1 FROM {answer} f WHERE f.trial = {trial} AND {same}) "
        f"ORDER BY {order} LIMIT {_CANDIDATES}"
    )
    clean = [row for row in rows if not row["dirty"]]
    return [Target(row=row, key={c: row[c] for c in wounding.key}) for row in clean or rows]


def _dirty(hop: Hop, wanted: frozenset[str]) -> str:
    """A query for all records with any finding of the hop, by trial."""
    return " UNION ".join(
        f"SELECT trial, record FROM {answer_name(anomaly)}"
        for anomaly in anomalies().values()
        if anomaly.hop is hop and anomaly.name in wanted and "record" in anomaly.key
    )


def _without_target(layer: Layer, wounding: Wounding, trial: int, where: str) -> Wound:
    """Every place has the finding already, which proves as much; or there is no place at all."""
    answer = answer_name(anomalies()[wounding.must_find])
    already = bool(layer.rows(f"SELECT 1 AS one FROM {answer} WHERE trial = {trial} LIMIT 1"))
    return Wound(
        name=wounding.name,
        target=where,
        must_find=wounding.must_find,
        found=already,
        detail="found without a wound: every record that it fits has this finding already"
        if already
        else f"there is nothing to wound in {wounding.table}",
    )


def _looked_for(
    wounded: Layer, wounding: Wounding, target: Target, trial: int, where: str
) -> Wound:
    found = wounded.has(anomalies()[wounding.must_find], trial, target.key)
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
