"""What is done to somebody's own pipeline: gentle, standard, brutal, or what is asked for by name.

The one thing to know: every preset strikes where such a pipeline is most likely to break: at its
commit, before and after. For a Spark job that is seen in its checkpoint, for any other program by
the messages that it sends to Kafka.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from harness.faults.base import Fault, Until
from harness.faults.by_hand import asked
from harness.faults.cut_link import CutLink
from harness.faults.isolate_broker import IsolateBroker
from harness.faults.kill_broker import KillBroker
from harness.faults.kill_driver import KillDriver
from harness.faults.kill_program import KillProgram
from harness.faults.kill_queue_broker import KillQueueBroker
from harness.faults.lose_responses import LoseResponses
from harness.faults.pause_driver import PauseDriver
from harness.faults.pause_program import PauseProgram
from harness.faults.rolling_restart import RollingRestart
from harness.faults.targets import LeaderOf, Node
from harness.faults.until import Acknowledged, Bitten
from harness.scenario import At
from harness.stage.topology import ARTEMIS

STANDARD: Final = "standard"
_BEGIN: Final = 0.05
_LONG: Final = 400
"""Records that are acknowledged while a fault without an end of its own lasts."""

Line = tuple[str, Fault]

_LEADER: Final[Line] = ("leader killed", KillBroker(target=LeaderOf(partition=0)))
_CUT: Final[Line] = ("pipeline cut", CutLink(source="pipeline", target=LeaderOf(partition=1)))
_ISOLATED: Final[Line] = ("broker isolated", IsolateBroker(target=LeaderOf(partition=2)))
_LOST: Final[Line] = ("responses lost", LoseResponses(target=LeaderOf(partition=1)))
_ROLLING: Final[Line] = ("rolling restart", RollingRestart())


def _driver(window: str) -> Line:
    return f"killed {window}", KillDriver(window=window)


_BEFORE: Final[Line] = ("killed before its commit", KillProgram(moment="before-commit"))
_AFTER: Final[Line] = ("killed after its commit", KillProgram(moment="after-commit"))

_PROGRAM: Final[Mapping[str, tuple[Line, ...]]] = {
    "gentle": (_BEFORE, _AFTER, _LEADER),
    STANDARD: (_BEFORE, _LEADER, _AFTER, ("paused", PauseProgram()), _CUT),
    "brutal": (
        _BEFORE,
        _LEADER,
        _AFTER,
        ("paused", PauseProgram()),
        _LOST,
        ("killed at work", KillProgram()),
        _ISOLATED,
        _CUT,
        _ROLLING,
    ),
}
_SPARK: Final[Mapping[str, tuple[Line, ...]]] = {
    "gentle": (_driver("after-sink-write"), _LEADER),
    STANDARD: (
        _driver("after-offset-log"),
        _driver("after-sink-write"),
        _LEADER,
        ("paused", PauseDriver()),
        _CUT,
        _driver("after-commit"),
    ),
    "brutal": (
        _driver("after-offset-log"),
        _driver("after-sink-write"),
        _LEADER,
        ("paused", PauseDriver()),
        _LOST,
        _ISOLATED,
        _CUT,
        _ROLLING,
        _driver("after-commit"),
    ),
}
_QUEUE_BROKER: Final[Line] = ("queue broker killed", KillQueueBroker())
_QUEUES: Final[Mapping[str, tuple[Line, ...]]] = {
    "gentle": (),
    STANDARD: (_QUEUE_BROKER,),
    "brutal": (
        _QUEUE_BROKER,
        ("cut off the queue broker", CutLink(source="pipeline", target=Node(name=ARTEMIS))),
    ),
}
"""What comes to it where an output is a queue."""
PRESETS: Final = tuple(_PROGRAM)
"""Names of presets, from the mildest on."""


def preset(name: str, *, spark: bool, queues: bool = False) -> tuple[At, ...]:
    """The schedule of a preset.

    Args:
        name: of the preset.
        spark: for a Spark job whose checkpoint is watched; else for any program.
        queues: whether an output is a queue.
    """
    lines = (_SPARK if spark else _PROGRAM)[name]
    return _one_by_one([*lines, *_QUEUES[name]] if queues else lines)


def by_name(faults: Sequence[str]) -> tuple[At, ...]:
    """Faults as `onceproof fault` takes them, one after the other.

    Raises:
        UnknownFault: one is none.
    """
    lines = []
    for number, text in enumerate(faults, 1):
        name, *words = shlex.split(text) or [""]
        lines.append((f"{number}: {text}", asked(name, words)))
    return _one_by_one(lines)


def _one_by_one(lines: Sequence[Line]) -> tuple[At, ...]:
    found: list[At] = []
    for name, fault in lines:
        found.append(
            At(
                name=name,
                progress=0.0 if found else _BEGIN,
                after=(found[-1].name,) if found else (),
                do=fault,
                until=_until(fault),
            )
        )
    return tuple(found)


def _until(fault: Fault) -> Until:
    lasts = isinstance(fault, CutLink | PauseProgram | PauseDriver)
    return Acknowledged(records=_LONG) if lasts else Bitten()
