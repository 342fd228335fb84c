"""Rules by which faults change how the HTTP service processes requests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

Answer = Literal["usual", "none", "unavailable"]
ANSWERS: Final[tuple[Answer, ...]] = ("usual", "none", "unavailable")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule for requests that the service has not executed before.

    Attributes:
        carry_out: whether they are executed.
        answer: usual; none: close the connection instead; unavailable: 503.
        hold: whether responses wait until the rule is removed.
        times: number of requests that it affects; None: all of them.
    """

    carry_out: bool
    answer: Answer = "usual"
    hold: bool = False
    times: int | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` if the answer contradicts `carry_out`, or is unknown."""
        if self.answer not in ANSWERS:
            raise ValueError(f"invalid answer {self.answer!r}: expected {' or '.join(ANSWERS)}")
        if (self.answer, self.carry_out) in (("usual", False), ("unavailable", True)):
            raise ValueError(
                f"answer {self.answer!r} cannot be combined with carry_out={self.carry_out}"
            )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class AffectedRequest:
    """A request that a rule affected.

    Attributes:
        number: see `Request`; None if it was not executed.
    """

    method: str
    path: str
    number: int | None

    def __str__(self) -> str:
        outcome = "not carried out" if self.number is None else f"carried out as no. {self.number}"
        return f"{self.method} {self.path}, {outcome}"
