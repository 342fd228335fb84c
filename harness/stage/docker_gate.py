"""The gate of a Docker stage: a container in toxiproxy's network.

There it listens on loopback, where only toxiproxy reaches it, and it reaches brokers by the names
that toxiproxy uses. Its image needs nothing but Python; the gate's modules are mounted into it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import kafka

from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.tools.docker_engine import Engine

IMAGE: Final = "GATE_IMAGE"
"""The variable that names another image."""
DEFAULT: Final = "python:3.12-slim"
_PLACE: Final = "/opt/gate"
_PACKAGE: Final = Path(__file__).parents[2]
_MODULES: Final = (
    "__init__.py", "harness/__init__.py", "harness/clock.py", "harness/kafka", "harness/links",
)  # fmt: skip
"""What the gate imports of this package."""
_FIRST_PORT: Final = 21_000


def address_of(proxies: Sequence[ProxySpec], proxy: ProxySpec) -> str:
    """Return where the gate behind a proxy listens."""
    return f"127.0.0.1:{_FIRST_PORT + [p.name for p in proxies].index(proxy.name)}"


def copy_modules(folder: Path) -> None:
    """Copy what the container mounts, because the package may consist of links."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in _MODULES:
        source, target = _PACKAGE / name, folder / "onceproof" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy2(source, target)
    shutil.copytree(Path(kafka.__file__).parent, folder / "kafka", ignore=ignored)
    for path in (folder, *folder.rglob("*")):  # root has no rights of its own in the container
        path.chmod(0o755 if path.is_dir() else 0o644)


def command(
    engine: Engine, image: str, modules: Path, *, beside: str, labels: Mapping[str, str]
) -> list[str]:
    """Return the command that runs a gate in the network of the container `beside`."""
    return [
        *("env", *(f"{name}={value}" for name, value in engine.environment.items())),
        *(engine.program, "run", "--rm", "--interactive", "--network", f"container:{beside}"),
        *(f"--label={name}={value}" for name, value in labels.items()),
        *("--volume", f"{modules.absolute()}:{_PLACE}:ro", "--env", f"PYTHONPATH={_PLACE}"),
        *("--env", "PYTHONDONTWRITEBYTECODE=1", "--read-only", "--cap-drop", "ALL"),
        *(image, "python3", "-u", "-m", "onceproof.harness.links.gate"),
    ]
