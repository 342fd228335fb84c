"""Containers, networks and volumes of dead runs.

A marker holds a process id, which is valid only on one machine. A second label names the machine,
and what belongs to others is left alone.
"""

from __future__ import annotations

from onceproof.harness.processes.sweep import Leftover, harness_alive, where
from onceproof.harness.stage import docker_reaper
from onceproof.harness.tools.docker_engine import Engine


def sweep(engine: Engine) -> list[Leftover]:
    """Remove and return what dead runs left in the engine."""
    leftovers = find_leftovers(engine)
    for leftover in leftovers:
        docker_reaper.remove(engine.program, leftover.marker, quiet=0.05)
    return leftovers


def find_leftovers(engine: Engine) -> list[Leftover]:
    found: dict[str, list[str]] = {}
    ours = {"label": [docker_reaper.LABEL, f"{docker_reaper.WHERE}={where()}"]}
    client = engine.client
    things = [
        *(("container", c) for c in client.api.containers(all=True, filters=ours)),
        *(("network", n) for n in client.api.networks(filters=ours)),
        *(("volume", v) for v in client.api.volumes(filters=ours)["Volumes"] or []),
    ]
    for kind, thing in things:
        marker = thing["Labels"][docker_reaper.LABEL]
        if not harness_alive(marker):
            name = thing.get("Name") or thing["Names"][0].lstrip("/")
            found.setdefault(marker, []).append(f"{kind} {name}")
    return [Leftover(marker=m, processes=tuple(names)) for m, names in sorted(found.items())]
