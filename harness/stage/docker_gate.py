"""The gate of a Docker stage: a container in toxiproxy's network.

There it listens on loopback, where only toxiproxy reaches it, and it reaches brokers by the names
that toxiproxy uses. Its image needs nothing but Python; the gate's modules are mounted into it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import kafka

from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.stage import docker_python
from onceproof.harness.tools.docker_engine import Engine

_FIRST_PORT: Final = 21_000


def address_of(proxies: Sequence[ProxySpec], proxy: ProxySpec) -> str:
    """Return where the gate behind a proxy listens."""
    return f"127.0.0.1:{_FIRST_PORT + [p.name for p in proxies].index(proxy.name)}"


def copy_modules(folder: Path) -> None:
    """Copy what the gate imports."""
    docker_python.copy_modules(
        folder, ["harness/kafka", "harness/links"], [Path(kafka.__file__).parent]
    )


def command(engine: Engine, modules: Path, *, beside: str, labels: Mapping[str, str]) -> list[str]:
    """Return the command that runs a gate in the network of the container `beside`."""
    variables = docker_python.environment().items()
    return [
        *("env", *(f"{name}={value}" for name, value in engine.environment.items())),
        *(engine.program, "run", "--rm", "--interactive", "--network", f"container:{beside}"),
        *(f"--label={name}={value}" for name, value in labels.items()),
        *("--volume", f"{modules.absolute()}:{docker_python.PLACE}:ro"),
        *(f"--env={name}={value}" for name, value in variables),
        *("--read-only", "--cap-drop", "ALL", docker_python.image()),
        *docker_python.program("onceproof.harness.links.gate"),
    ]
