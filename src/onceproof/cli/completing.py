"""Shell completion. An error must not reach the shell: then nothing is completed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path

Offer = tuple[str, str]
"""A word and its description."""
Completer = Callable[[str], list[Offer]]


def _without_errors(find: Callable[[str], Iterable[Offer]]) -> Completer:
    @wraps(find)
    def offers(incomplete: str) -> list[Offer]:
        try:
            return [offer for offer in find(incomplete) if offer[0].startswith(incomplete)]
        except Exception:
            return []

    return offers


@_without_errors
def scenarios(incomplete: str) -> Iterable[Offer]:
    from onceproof.catalogue import known

    return [(scenario.name, scenario.title) for scenario in known()]


@_without_errors
def anomalies(incomplete: str) -> Iterable[Offer]:
    from onceproof.checkers.anomalies import anomalies as known

    return [(name, anomaly.definition) for name, anomaly in known().items()]


@_without_errors
def faults(incomplete: str) -> Iterable[Offer]:
    from onceproof.harness.faults.by_hand import by_hand

    return [(name, entry.says) for name, entry in by_hand().items()]


@_without_errors
def outputs(incomplete: str) -> Iterable[Offer]:
    from onceproof.harness.user_pipeline.outputs.kinds import output_kinds

    return [(f"{prefix}:", kind.says) for prefix, kind in output_kinds().items()]


@_without_errors
def run_folders(incomplete: str) -> Iterable[Offer]:
    """Return run folders below `runs` and below the path that is being typed, newest first."""
    typed = Path(incomplete)
    places = dict.fromkeys([Path("runs"), typed.parent, *([typed] if typed.is_dir() else [])])
    found = {str(file.parent): "" for place in places for file in place.glob("*/run.json")}
    return [(name, "a run") for name in sorted(found, reverse=True)]


@_without_errors
def runtimes(incomplete: str) -> Iterable[Offer]:
    from onceproof.harness.tools.runtimes.known import RUNTIMES

    return [(f"{name}=", runtime.what) for name, runtime in RUNTIMES.items()]


@_without_errors
def backends(incomplete: str) -> Iterable[Offer]:
    return [
        ("local", "processes of this machine"),
        ("local-secured", "the same, with TLS and credentials"),
        ("docker", "containers"),
        ("external:", "your own cluster, described in a file"),
    ]
