"""A kind of output: what stands before the colon of `--output`, and what reads it."""

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
"""The words in braces that a place may have: all lead past what we disturb."""
ROW: Final = ("json:$.COLUMN", "regex:PATTERN")
"""The rules that find something in a row."""
LINE: Final = ("json:$.FIELD", "regex:PATTERN")
"""In a line of text."""
MESSAGE: Final = ("json:$.FIELD", "header:NAME", "regex:PATTERN")
"""In a message that has headers and no key."""
RECORD: Final = (*MESSAGE, "key")
"""In a record of a topic."""


@dataclass(frozen=True, kw_only=True)
class Where:
    """How outputs are reached, past all proxies.

    Attributes:
        database: how to connect to the stage's database.
        reader: reads topics.
        work: the folder that `{work}` means.
        decode: the function that reads a record's value; None: it is text.
    """

    database: str
    reader: LogReader
    work: Path
    decode: str | None = None

    def fill(self, text: str) -> str:
        """A text of the command line with what its words in braces mean here."""
        bootstrap = self.reader.bootstrap if "bootstrap" in words(text) else ""
        return fill(
            text, {"bootstrap": bootstrap, "database": self.database, "work": str(self.work)}
        )


_PREFIX: Final = re.compile(r"[a-z][a-z0-9-]*")

Opened = Callable[[str, Where], Source]
"""Opens a place, as it is written on the command line; `Where.fill` replaces its words."""


def any_place(place: str) -> None:
    """Whatever it is, it can be one."""


def placeholders(place: str) -> None:
    """See that the words in braces of a place mean something.

    Raises:
        BadRule: one does not.
    """
    fill(place, dict.fromkeys(WORDS, ""))


@dataclass(frozen=True, kw_only=True)
class OutputKind:
    """A kind of output.

    Attributes:
        prefix: its name, before the colon.
        place: what stands behind the colon, in a word such as `FOLDER`.
        says: what it is, in a sentence.
        views: who may look, each with what opens a place so. The first is the usual one; where
            there are several, `@VIEW` behind the place asks for one.
        view_is: what a view is called.
        check: sees that a place can be one, and raises `BadRule` if not.
        rules: the rules that find an identity in it, as they are written.
        untested: what of such an output no trial puts to the test; told with each claim.
        extra: the extra of onceproof whose library reads it; empty: none is needed.
    """

    prefix: str
    place: str
    says: str
    views: Mapping[str, Opened]
    view_is: str = "view"
    check: Callable[[str], None] = placeholders
    rules: tuple[str, ...] = ROW
    untested: str = ""
    extra: str = ""

    def __post_init__(self) -> None:
        """Raises `ValueError` for what cannot be one."""
        if not _PREFIX.fullmatch(self.prefix):
            wanted = "a small letter, then small letters, digits and hyphens"
            raise ValueError(f"invalid prefix {self.prefix!r}: expected {wanted}")
        if not self.views:
            raise ValueError(f"{self.prefix}: expected at least one view")
        if odd := {_rule(each) for each in self.rules} - {_rule(each) for each in RECORD}:
            raise ValueError(f"{self.prefix}: no rule is called {', '.join(sorted(odd))}")

    @property
    def usage(self) -> str:
        """As it is written, such as `delta:FOLDER`."""
        return f"{self.prefix}:{self.place}" + "".join(f"[@{view}]" for view in [*self.views][1:])

    def parse(self, text: str) -> tuple[str, str]:
        """Place and view, from what stands behind the colon.

        Raises:
            BadRule: it is no place, or there is no such view.
        """
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
        """See that a rule can find something in what is written there.

        Args:
            rule: which.
            what: it is, such as `identity`.
            place: as the message calls it.

        Raises:
            BadRule: it cannot.
        """
        if rule.kind not in map(_rule, self.rules):
            thing = "message" if "header:NAME" in self.rules else "row"
            *others, last = self.rules
            raise BadRule(
                f"{what} {rule} cannot be in a {thing} of {place}; expected "
                f"{', '.join(others)} or {last}"
            )


def _rule(written: str) -> str:
    return written.partition(":")[0]
