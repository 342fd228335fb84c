"""What must be found, in plain Python: slow, obvious, and written apart from the queries.

The one thing to know: it follows the definitions sentence by sentence, with loops over lists of
dicts. Where it and the SQL differ, one of them has misread a definition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from checkers import History

Row = Mapping[str, Any]
Keys = dict[str, set[tuple[Any, ...]]]


class Oracle:
    def __init__(
        self,
        history: History,
        *,
        topic: str = "input",
        sink: str = "ledger",
        view: str = "table",
        deduplicates: bool = False,
    ) -> None:
        self.h = {name: table.to_pylist() for name, table in history.items()}
        self.topic, self.sink, self.view, self.dedup = topic, sink, view, deduplicates
        outcome = {row["phase"]: row["outcome"] for row in self.h["phases"]}
        self.collected = outcome.get("collect") == "ok"
        self.complete = self.collected and outcome.get("settle") == "ok"
        self.collect = next((r for r in self.h["phases"] if r["phase"] == "collect"), None)
        self.cut = {
            p["partition"]: p
            for p in self.h["partitions"]
            if p["topic"] == topic and (p["log_start"] > 0 or "compact" in p["cleanup_policy"])
        }
        self.sends = [s for s in self.h["sends"] if s["topic"] == topic]
        self.sent = {s["record"] for s in self.h["sends"]}
        self.entries = [
            e
            for e in self.h["log"]
            if e["topic"] == topic and e["kind"] == "data" and e["record"] is not None
        ]
        self.committed = [e for e in self.entries if e["committed"]]
        self.txns = {t["txn"]: t["outcome"] for t in self.h["txns"]}
        self.proven = self._proven()
        self.effects = self._effects()
        self.by_position = (
            not deduplicates
            and bool(self.effects)
            and all(source(e) is not None for e in self.effects)
        )
        self.expected = self._expected()

    def keys(self) -> Keys:
        """Anomaly → keys of its findings; anomalies without any are left out."""
        found = {
            "lost-write": self.lost_write(),
            "duplicate": self.duplicate(),
            "phantom": self.phantom(),
            "corrupt": self.corrupt(),
            "lost-output": self.lost_output(),
            "duplicate-output": self.duplicate_output(),
            "unfounded-output": self.unfounded_output(),
            "phantom-output": self.phantom_output(),
            "wrong-output": self.wrong_output(),
            "offset-ahead": self.offset_ahead(),
            "offset-behind": self.offset_behind(),
            "offset-regressed": self.offset_regressed(),
            "offset-gap": self.offset_gap(),
        }
        if not self.complete:
            for name in ("lost-write", "lost-output", "unfounded-output", "offset-ahead"):
                del found[name]
        return {name: keys for name, keys in found.items() if keys}

    # What was sent, and where it stands.

    def _proven(self) -> set[str]:
        proven = set()
        for entry in self.h["log"]:
            if entry["kind"] != "data" or not entry["committed"]:
                continue
            same = [
                s
                for s in self.h["sends"]
                if s["record"] == entry["record"] and s["topic"] == entry["topic"]
            ]
            for send in self.h["sends"]:
                if send["topic"] != entry["topic"] or send["txn"] is None:
                    continue
                if send["attempt"] == entry["attempt"] or (
                    entry["attempt"] is None and same == [send]
                ):
                    proven.add(send["txn"])
        return proven

    def may(self, send: Row) -> bool:
        return send["outcome"] != "fail" and self.txns.get(send["txn"]) != "aborted"

    def must(self, send: Row) -> bool:
        if send["outcome"] != "ok":
            return False
        if send["txn"] is None:
            return True
        outcome = self.txns.get(send["txn"], "info")
        return outcome == "committed" or (outcome == "info" and send["txn"] in self.proven)

    def gone(self, send: Row) -> bool:
        if send["outcome"] != "ok" or send["partition"] is None:
            return bool(self.cut)
        return not self.readable(send["partition"], send["offset"])

    def readable(self, partition: int, offset: int | None) -> bool:
        if partition not in self.cut:
            return True
        cut = self.cut[partition]
        if "compact" in cut["cleanup_policy"] or offset is None:
            return False
        return bool(offset >= cut["log_start"])

    def attempt_of(self, entry: Row) -> str | None:
        for send in self.sends:
            if send["attempt"] == entry["attempt"] and send["record"] == entry["record"]:
                return str(send["attempt"])
        return None

    def account(self, record: str) -> tuple[dict[str, int], int]:
        """Committed positions of a record: per attempt, and of nobody's."""
        per = dict.fromkeys((s["attempt"] for s in self.sends if s["record"] == record), 0)
        nobody = 0
        for entry in self.committed:
            if entry["record"] == record:
                attempt = self.attempt_of(entry)
                if attempt is None:
                    nobody += 1
                else:
                    per[attempt] += 1
        return per, nobody

    def lost_write(self) -> set[tuple[Any, ...]]:
        found = set()
        for record in {s["record"] for s in self.sends}:
            per, nobody = self.account(record)
            missing = [
                s
                for s in self.sends
                if s["record"] == record
                and self.must(s)
                and per[s["attempt"]] == 0
                and not self.gone(s)
            ]
            if len(missing) > nobody:
                found.add((self.topic, record))
        return found

    def duplicate(self) -> set[tuple[Any, ...]]:
        found = set()
        for record in {s["record"] for s in self.sends}:
            per, nobody = self.account(record)
            sends = [s for s in self.sends if s["record"] == record]
            free = sum(1 for s in sends if self.may(s) and per[s["attempt"]] == 0)
            if nobody > free or any(per[s["attempt"]] > int(self.may(s)) for s in sends):
                found.add((self.topic, record))
        return found

    def phantom(self) -> set[tuple[Any, ...]]:
        if not self.sends:
            return set()
        return {(self.topic, e["record"]) for e in self.entries if e["record"] not in self.sent}

    def corrupt(self) -> set[tuple[Any, ...]]:
        return {(self.topic, e["record"]) for e in self.entries if self.is_corrupt(e)}

    def is_corrupt(self, entry: Row) -> bool:
        candidates = self.candidates(entry)
        return bool(candidates) and all(self.differs(s, entry) for s in candidates)

    def candidates(self, entry: Row) -> list[Row]:
        same = [s for s in self.h["sends"] if s["record"] == entry["record"]]
        return [s for s in same if s["attempt"] == entry["attempt"]] or same

    def differs(self, send: Row, entry: Row) -> bool:
        for column in ("key", "digest"):
            if None not in (send[column], entry[column]) and send[column] != entry[column]:
                return True
        if send["topic"] != self.topic:
            return True
        at_home = any(
            e["committed"] and e["partition"] == send["partition"] and send in self.candidates(e)
            for e in self.entries
        )
        return (
            send["outcome"] == "ok"
            and send["partition"] is not None
            and send["partition"] != entry["partition"]
            and not at_home
        )

    # What came of it.

    def _effects(self) -> list[Row]:
        found = []
        here = {s["record"] for s in self.sends} | {e["record"] for e in self.entries}
        for e in self.h["effects"]:
            if (e["sink"], e["view"]) != (self.sink, self.view) or e["record"] is None:
                continue
            if e["source_topic"] not in (None, self.topic):
                continue
            if e["source_topic"] is None and e["record"] in self.sent - here:
                continue
            found.append(e)
        return found

    def _expected(self) -> dict[str, Counter[str]]:
        yields: dict[str, Counter[str]] = defaultdict(Counter)
        stated = [x for x in self.h["expected"] if x["sink"] == self.sink]
        for x in stated:
            yields[x["record"]][x["effect_key"]] += 1
        if not stated:
            for row in (*self.committed, *self.effects):
                yields[row["record"]][""] = 1
        return yields

    def slots(self) -> dict[tuple[Any, ...], tuple[int, int, int]]:
        """(record, effect key, place) → expected, due, seen."""
        expected: Counter[tuple[Any, ...]] = Counter()
        due: Counter[tuple[Any, ...]] = Counter()
        for entry in self.committed:
            place = (entry["partition"], entry["offset"]) if self.by_position else None
            for key, n in self.expected.get(entry["record"], {}).items():
                slot = (entry["record"], key, place)
                readable = n if self.readable(entry["partition"], entry["offset"]) else 0
                if self.dedup:
                    expected[slot], due[slot] = n, max(due[slot], readable)
                else:
                    expected[slot] += n
                    due[slot] += readable
        seen = Counter(
            (e["record"], e["effect_key"], source(e) if self.by_position else None)
            for e in self.effects
        )
        return {s: (expected[s], due[s], seen[s]) for s in expected | seen}

    def key(self, record: str, effect_key: str) -> tuple[Any, ...]:
        return (self.sink, self.view, record, effect_key)

    def lost_output(self) -> set[tuple[Any, ...]]:
        return {
            self.key(record, key)
            for (record, key, _), (_, due, seen) in self.slots().items()
            if seen < due
        }

    def duplicate_output(self) -> set[tuple[Any, ...]]:
        found = set()
        for (record, key, _), (expected, _, seen) in self.slots().items():
            if seen > expected > 0 and self.expectation_is_final(record):
                found.add(self.key(record, key))
        places = Counter(
            (e["record"], e["effect_key"], source(e)) for e in self.effects if source(e)
        )
        for (record, key, place), seen in places.items():
            n = self.expected.get(record, {}).get(key, 0)
            at = [
                e
                for e in self.h["log"]
                if e["topic"] == self.topic and (e["partition"], e["offset"]) == place
            ]
            if seen <= n or n == 0:
                continue
            if at:
                proof = at[0]["record"] == record and at[0]["committed"] and not self.by_position
            else:
                proof = not self.complete or not self.readable(*place)
            if proof:
                found.add(self.key(record, key))
        return found

    def expectation_is_final(self, record: str) -> bool:
        if self.by_position or self.dedup:
            return True
        if self.cut:
            return False
        if self.complete:
            return True
        sends = [s for s in self.sends if s["record"] == record]
        return bool(sends) and all(
            self.collected
            and s["outcome"] == "ok"
            and s["txn"] is None
            and s["returned_at"] is not None
            and s["returned_at"] <= self.collect["started_at"]
            and s["clock"] == self.collect["clock"]
            for s in sends
        )

    def stands(self, record: str, place: tuple[int, int] | None) -> bool:
        return any(
            e["record"] == record and (place is None or (e["partition"], e["offset"]) == place)
            for e in self.committed
        )

    def unfounded_output(self) -> set[tuple[Any, ...]]:
        known = self.sent | {e["record"] for e in self.entries}
        found = set()
        for e in self.effects:
            place = source(e)
            decidable = not self.cut if place is None else self.readable(*place)
            if e["record"] in known and not self.stands(e["record"], place) and decidable:
                found.add(self.key(e["record"], e["effect_key"]))
        return found

    def phantom_output(self) -> set[tuple[Any, ...]]:
        if not self.sends and not self.complete:
            return set()
        known = self.sent | {e["record"] for e in self.entries}
        return {
            self.key(e["record"], e["effect_key"]) for e in self.effects if e["record"] not in known
        }

    def wrong_output(self) -> set[tuple[Any, ...]]:
        stated = [x for x in self.h["expected"] if x["sink"] == self.sink]
        corrupt = {e["record"] for e in self.entries if self.is_corrupt(e)}
        right = {(x["record"], x["effect_key"], x["digest"]) for x in stated}
        return {
            self.key(e["record"], e["effect_key"])
            for e in self.effects
            if stated
            and self.stands(e["record"], None)
            and e["record"] not in corrupt
            and (e["record"] in self.sent or not self.sends)
            and (e["record"], e["effect_key"], e["digest"]) not in right
        }

    # Where progress stands.

    def done(self) -> dict[tuple[Any, ...], list[Row]]:
        """(owner, role, sink, partition) → done positions in order."""
        found = defaultdict(list)
        for p in self.h["positions"]:
            judged = p["kind"] == "done" and p["role"] in ("atomic", "resume")
            here = p["topic"] == self.topic and p["sink"] in (None, self.sink)
            if judged and here and p["owner"] not in self.foreign_owners():
                found[p["owner"], p["role"], p["sink"], p["partition"]].append(p)
        return {k: sorted(v, key=lambda p: (p["ordinal"], p["offset"])) for k, v in found.items()}

    def foreign_owners(self) -> set[str]:
        rows = [r for r in (*self.h["effects"], *self.h["positions"]) if r["owner"] and r["sink"]]
        here = {r["owner"] for r in rows if r["sink"] == self.sink}
        return {r["owner"] for r in rows} - here

    def newest(self, role: str) -> list[Row]:
        last = [(k, v[-1]) for k, v in self.done().items()]
        return [p for (_, r, _, _), p in last if r == role and p["by"] == "subject"]

    def offset_ahead(self) -> set[tuple[Any, ...]]:
        found = set()
        for (record, key, place), (_, due, seen) in self.slots().items():
            if seen >= due:
                continue
            for owner in {p["owner"] for p in self.newest("resume")}:
                passed = [
                    (e, p)
                    for p in self.newest("resume")
                    for e in self.committed
                    if p["owner"] == owner
                    and e["record"] == record
                    and (place is None or (e["partition"], e["offset"]) == place)
                    and p["partition"] == e["partition"]
                    and e["offset"] < p["offset"]
                    and self.readable(e["partition"], e["offset"])
                ]
                n = self.expected[record][key]
                if passed and (n if self.dedup else n * len(passed)) > seen:
                    for e, _ in passed:
                        found.add((self.sink, self.view, owner, self.topic, e["partition"]))
        return found

    def offset_behind(self) -> set[tuple[Any, ...]]:
        if not self.collected:
            return set()
        found = set()
        for p in self.newest("atomic"):
            rivals = [q for q in self.newest("atomic") if q["partition"] == p["partition"]]
            first = min(rivals, key=lambda q: (-q["offset"], q["owner"]))
            for e in self.effects:
                if e["owner"] != p["owner"] and (e["owner"] is not None or p is not first):
                    continue
                places = [
                    (c["partition"], c["offset"])
                    for c in self.committed
                    if c["record"] == e["record"]
                ]
                if source(e) is not None:
                    places = [place for place in places if place == source(e)]
                elif len(places) > 1:
                    continue
                if any(at == p["partition"] and offset >= p["offset"] for at, offset in places):
                    key = (self.sink, self.view, p["owner"], self.topic, p["partition"])
                    found.add(key)
        return found

    def offset_regressed(self) -> set[tuple[Any, ...]]:
        found = set()
        for (owner, role, _, partition), rows in self.done().items():
            place = (self.sink, self.view, owner, role, self.topic, partition)
            for before, after in pairwise(rows):
                if after["offset"] < before["offset"] and after["by"] == "subject":
                    found.add((*place, after["ordinal"]))
        return found

    def offset_gap(self) -> set[tuple[Any, ...]]:
        found = set()
        ways = defaultdict(list)
        for r in self.h["ranges"]:
            here = r["topic"] == self.topic and r["owner"] not in self.foreign_owners()
            if r["committed"] and here:
                ways[r["owner"], r["partition"]].append(r)
        for (owner, partition), rows in ways.items():
            rows.sort(key=lambda r: (r["batch"], r["start_offset"], r["end_offset"]))
            reached = rows[0]["end_offset"]
            for r in rows[1:]:
                start = r["start_offset"]
                key = (self.sink, self.view, owner, self.topic, partition, r["batch"])
                log_start = self.cut[partition]["log_start"] if partition in self.cut else 0
                if start > reached and start > log_start:
                    found.add(("gap", *key))
                elif start < reached:
                    found.add(("overlap", *key))
                reached = max(reached, r["end_offset"])
        return found


def source(effect: Row) -> tuple[int, int] | None:
    parts = (effect["source_topic"], effect["source_partition"], effect["source_offset"])
    return None if None in parts else parts[1:]
