"""What the arguments of faults can be in one lab, for clients that offer a choice."""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress
from typing import Any, get_args

from kafka.errors import kafka_errors

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.by_hand import asked, by_hand
from onceproof.harness.faults.roles import NODES
from onceproof.harness.faults.targets.base import Victim
from onceproof.harness.faults.victims import victims
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.links.disturbances import Way
from onceproof.harness.links.gate.messages import client_apis
from onceproof.harness.links.gate.rules import Action, Direction
from onceproof.harness.links.topology import AUDIENCES
from onceproof.harness.schedule.supported_faults import is_supported


def choices(context: RunContext, offered: Set[str]) -> dict[str, Any]:
    """Return the values of arguments, and the processes that can be killed, stopped or paused."""
    return {
        "SOURCE": [*AUDIENCES, *context.stage.brokers],
        "AUDIENCE": list(AUDIENCES),
        "TARGET": [*context.stage.nodes, *NODES],
        "WAY": list(get_args(Way)),
        "request|response": list(get_args(Direction)),
        "API": client_apis(),
        "ACTION": [action for action in get_args(Action) if action not in ("error", "report")],
        "errors": sorted(
            str(error.message) for code, error in kafka_errors.items() if code is not None and code
        ),
        "processes": [_process(kind, offered) for kind in victims()],
    }


def kinds(offered: Set[str]) -> list[dict[str, Any]]:
    """Return every kind of fault, and whether a lab can inject it."""
    return [
        {
            "name": entry.name,
            "takes": list(entry.takes),
            "says": entry.says,
            "example": entry.example,
            "offered": _is_offered(entry.example, offered),
        }
        for entry in by_hand().values()
    ]


def _process(kind: type[Victim], offered: Set[str]) -> dict[str, Any]:
    service = getattr(kind, "service", None)
    return {
        "name": kind.example,
        "written": kind.written,
        "node": getattr(service, "node", None),
        "verbs": {
            verb: list(kind.windows.get(verb, {}))
            for verb in kind.verbs()
            if _is_offered(f"{verb} {kind.example}", offered)
        },
    }


def _is_offered(words: str, offered: Set[str]) -> bool:
    name, *arguments = words.split()
    with suppress(UnknownFault):
        fault: Fault = asked(name, arguments)
        return is_supported(fault, offered)
    return False
