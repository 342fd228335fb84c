"""A kind of output: the prefix before the colon of `--output`, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.outputs.base import Source
from onceproof.harness.user_pipeline.placeholders import fill, words

WORDS: Final = ("bootstrap", "database", "work")
"""Placeholders that a place may have; all bypass the proxies."""
ROW: Final = ("json:$.COLUMN", "regex:PATTERN")
"""Rules that apply to a row."""
LINE: Final = ("json:$.FIELD", "regex:PATTERN")
"""For a line of text."""
MESSAGE: Final = ("json:$.FIELD", "header:NAME", "regex:PATTERN")
"""For a message with headers and no key."""
RECORD: Final = (*MESSAGE, "key")
"""For a record of a topic."""


@dataclass(frozen=True, kw_only=True)
class OutputAccess:
    """How outputs are reached, bypassing the proxies.

    Attributes:
        database: libpq connection string of the stage's database.
        work: folder that `{work}` stands for.
        decode: function that decodes a record's value; None: it is text.
    """

    database: str
    reader: LogReader
    work: Path
    decode: str | None = None

    def fill(self, text: str) -> str:
        bootstrap = self.reader.bootstrap if "bootstrap" in words(text) else ""
        return fill(
            text, {"bootstrap": bootstrap, "database": self.database, "work": str(self.work)}
        )


_PREFIX: Final = re.compile(r"[a-z][a-z0-9-]*")

Opened = Callable[[str, OutputAccess], Source]
"""Opens a place as written on the command line; `OutputAccess.fill` replaces its placeholders."""


def any_place(place: str) -> None:
    """Accept any place."""


def placeholders(place: str) -> None:
    """Raise `BadRule` if a place has an unknown placeholder."""
    fill(place, dict.fromkeys(WORDS, ""))


@dataclass(frozen=True, kw_only=True)
class OutputKind:
    """A kind of output.

    Attributes:
        prefix: its name, before the colon.
        place: placeholder of what follows the colon, such as `FOLDER`.
        says: what it is, in a sentence.
        views: name of a view → opener of a place. The first is the default; if there are several,
            `@VIEW` after the place selects one.
        view_is: what a view is called.
        check: raises `BadRule` for an invalid place.
        rules: rules that can find an identity in it, as written.
        untested: what no trial tests of such an output; reported with each claim.
    """

    prefix: str
    place: str
    says: str
    views: Mapping[str, Opened]
    view_is: str = "view"
    check: Callable[[str], None] = placeholders
    rules: tuple[str, ...] = ROW
    untested: str = ""

    def __post_init__(self) -> None:
        """Raise `ValueError` for invalid attributes."""
        if not _PREFIX.fullmatch(self.prefix):
            wanted = "a lowercase letter, then lowercase letters, digits and hyphens"
            raise ValueError(f"invalid prefix {self.prefix!r}: expected {wanted}")
        if not self.views:
            raise ValueError(f"{self.prefix}: expected at least one view")
        if odd := {_rule(each) for each in self.rules} - {_rule(each) for each in RECORD}:
            raise ValueError(f"{self.prefix}: there are no rules named {', '.join(sorted(odd))}")

    @property
    def usage(self) -> str:
        """Its syntax, such as `delta:FOLDER`."""
        return f"{self.prefix}:{self.place}" + "".join(f"[@{view}]" for view in [*self.views][1:])

    def parse(self, text: str) -> tuple[str, str]:
        """Split what follows the colon into place and view; raise `BadRule` if one is invalid."""
        place, view = text, ""
        if len(self.views) > 1:
            place, _, view = text.partition("@")
        if view and view not in self.views:
            raise BadRule(
                f"{text!r}: invalid {self.view_is} {view!r}: expected {' or '.join(self.views)}"
            )
        self.check(place)
        return place, view or next(iter(self.views))

    def check_rule(self, rule: Rule, *, what: str, place: str) -> None:
        """Raise `BadRule` if a rule cannot apply; `what` is its purpose, such as `identity`."""
        if rule.kind not in map(_rule, self.rules):
            thing = "message" if "header:NAME" in self.rules else "row"
            *others, last = self.rules
            raise BadRule(
                f"{what} {rule} does not apply to a {thing} of {place}; expected "
                f"{', '.join(others)} or {last}"
            )


def _rule(written: str) -> str:
    return written.partition(":")[0]
