"""Put exactly-once claims under real faults, and judge record by record whether they hold.

`run_scenario` and `check_run` both return an `Outcome`, because a run is judged from its run folder
alone. Names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onceproof.outcome import Outcome, check_run
    from onceproof.running import run_scenario

__all__ = ["Outcome", "check_run", "run_scenario"]

_HOMES = {
    "Outcome": "onceproof.outcome",
    "check_run": "onceproof.outcome",
    "run_scenario": "onceproof.running",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
