"""The catalogue of known bugs: `catalogue.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from onceproof.harness.explore.exploration import Aborted, Load

FILE: Final = Path(__file__).with_name("catalogue.toml")


class UnknownBug(ValueError):
    """There is no bug of that name."""


@dataclass(frozen=True, kw_only=True)
class Bug:
    """A bug that was released, and how it has to be found.

    Attributes:
        id: of the project's issue tracker, or a short name.
        title: what goes wrong, in a sentence.
        subject: of `onceproof explore`, the bug's generic means.
        faults: which singles of the subject are tried: those whose name has all words of one of
            these texts. Kinds of faults or of messages, never one fault.
        then: second faults of pairs, chosen in the same way; empty: no pairs are tried.
        anomaly: what it must be convicted of, or `stalled`.
        affected: runtime → version that has the bug.
        fixed: runtime → version that does not; None if there is none.
        fixed_subject: what is explored instead where no version is fixed: another client, or an
            application that avoids the bug.
        transactions: of a trial's load.
        records: in each transaction.
        aborted: kinds of aborted transactions before the inputs, as of `Load`; None: all.
        rounds: how often each fault is tried, for a bug that shows in some trials only.
        aimed: why a kind of fault was added for it, if one was.
    """

    id: str
    title: str
    subject: str
    faults: tuple[str, ...]
    anomaly: str
    affected: Mapping[str, str]
    fixed: Mapping[str, str] | None = None
    fixed_subject: str | None = None
    then: tuple[str, ...] = ()
    transactions: int = 5
    records: int = 3
    aborted: tuple[Aborted, ...] | None = None
    rounds: int = 1
    aimed: str = ""

    @property
    def load(self) -> Load:
        load = Load(transactions=self.transactions, records=self.records)
        return load if self.aborted is None else replace(load, aborted=frozenset(self.aborted))


@dataclass(frozen=True, kw_only=True)
class NotTried:
    """A bug that is known and not in the benchmark, with the reason."""

    id: str
    title: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All known bugs."""

    bugs: tuple[Bug, ...] = ()
    not_tried: tuple[NotTried, ...] = field(default=())

    def named(self, ids: Iterable[str]) -> tuple[Bug, ...]:
        """Return the bugs with these ids, or all if there are none.

        Raises:
            UnknownBug: there is none with an id.
        """
        by_id = {bug.id: bug for bug in self.bugs}
        wanted = tuple(ids)
        for each in wanted:
            if each not in by_id:
                raise UnknownBug(f"unknown bug {each}: expected one of {', '.join(by_id)}")
        return tuple(by_id[each] for each in wanted) or self.bugs


def load(file: Path = FILE) -> Catalogue:
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    return Catalogue(
        bugs=tuple(Bug(**_tuples(each)) for each in content.get("bug", [])),
        not_tried=tuple(NotTried(**each) for each in content.get("not-tried", [])),
    )


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key.replace("-", "_"): tuple(value) if isinstance(value, list) else value
        for key, value in table.items()
    }
