"""What a fault has the HTTP service do to requests, instead of carrying them out and answering."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

Answer = Literal["usual", "none", "unavailable"]
ANSWERS: Final[tuple[Answer, ...]] = ("usual", "none", "unavailable")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """It acts on every request that the service has not carried out before.

    Attributes:
        carry_out: whether they are carried out.
        answer: the usual one; none, and the connection is closed instead; or 503.
        hold: whether each waits before its answer until the rule is removed.
        times: on how many requests it acts; None: on all of them.
    """

    carry_out: bool
    answer: Answer = "usual"
    hold: bool = False
    times: int | None = None

    def __post_init__(self) -> None:
        """Raises `ValueError` for what would confirm a request that was never carried out."""
        if self.answer not in ANSWERS:
            raise ValueError(f"invalid answer {self.answer!r}: expected {' or '.join(ANSWERS)}")
        if (self.answer, self.carry_out) in (("usual", False), ("unavailable", True)):
            raise ValueError(f"the answer {self.answer!r} cannot go with {self.carry_out=}")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Met:
    """A request on which a rule acted.

    Attributes:
        number: of the request, if it was carried out.
    """

    method: str
    path: str
    number: int | None

    def __str__(self) -> str:
        became = "not carried out" if self.number is None else f"carried out as no. {self.number}"
        return f"{self.method} {self.path}, {became}"
