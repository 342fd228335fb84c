"""Connect this process, and every helper that it starts, to brokers.

The properties are in a folder that only its owner can read. An environment variable names the
folder, so that helpers in every language find it and no argument list, task or record contains
secrets. Without the folder, connections are plain text.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from onceproof.harness.kafka.connecting.java import java_properties
from onceproof.harness.kafka.connecting.properties import (
    BY_PASSWORD,
    BadProperties,
    is_authenticated,
    is_encrypted,
    read,
)
from onceproof.harness.kafka.connecting.tls import tls_context

VARIABLE: Final = "ONCEPROOF_CONNECTION"
"""The environment variable that names the folder."""
LIBRDKAFKA: Final = "librdkafka.properties"
JAVA: Final = "java.properties"


@dataclass(frozen=True)
class Connection:
    """Brokers (`host:port,…`), and librdkafka properties to connect; empty for plain text."""

    bootstrap: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    def librdkafka(self) -> dict[str, Any]:
        return {**self.properties, "bootstrap.servers": self.bootstrap}

    def in_python(self) -> dict[str, Any]:
        """Return the configuration for a kafka-python or aiokafka client, without the servers.

        Raises:
            BadProperties: these clients do not support the SASL mechanism.
        """
        if not self.properties:
            return {}
        settings: dict[str, Any] = {"security_protocol": self.properties["security.protocol"]}
        if is_encrypted(self.properties):
            settings["ssl_context"] = tls_context(self.properties)
        if is_authenticated(self.properties):
            mechanism = self.properties["sasl.mechanism"]
            if mechanism not in BY_PASSWORD:
                raise BadProperties(
                    f"onceproof cannot use {mechanism} with kafka-python or aiokafka; "
                    f"expected one of {', '.join(BY_PASSWORD)}"
                )
            settings |= {
                "sasl_mechanism": mechanism,
                "sasl_plain_username": self.properties["sasl.username"],
                "sasl_plain_password": self.properties["sasl.password"],
            }
        return settings

    def open(self, seconds: float) -> socket.socket:
        """Open a socket to a single broker, with a timeout per answer; raises as `connect`."""
        # Not at the top: members with an old kafka-python, which lacks parts of it, do not need it.
        from onceproof.harness.kafka.connecting.handshake import connect

        return connect(self.bootstrap, self.properties, seconds)


def connection(bootstrap: str) -> Connection:
    """Return this process's connection; every client of the harness uses it."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return Connection(bootstrap)
    found = read(Path(folder) / LIBRDKAFKA)
    return Connection(bootstrap, {name: str(value) for name, value in found.items()})


def client_properties() -> dict[str, str]:
    """Return the property files by client (`java`, `librdkafka`); empty for plain text."""
    folder = os.environ.get(VARIABLE)
    names = {"java": JAVA, "librdkafka": LIBRDKAFKA}
    return {} if folder is None else {who: f"{folder}/{name}" for who, name in names.items()}


def client_file(name: str, *, otherwise: Path) -> Path:
    """Return a property file for third-party programs: `JAVA` or `LIBRDKAFKA`.

    If connections are plain text, write an empty file to the folder `otherwise`.
    """
    if (folder := os.environ.get(VARIABLE)) is not None:
        return Path(folder) / name
    write_private(otherwise / name, "")
    return otherwise / name


def connect_with(properties: Mapping[str, str], folder: Path) -> None:
    """Make this process, and helpers that it starts from now on, connect with these properties.

    Args:
        properties: as `fitting` returns them.
        folder: created for the properties, readable by the owner only; `disconnect` removes it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(folder / LIBRDKAFKA, "".join(f"{n}={v}\n" for n, v in properties.items()))
    if "ssl.key.location" in properties:
        # Java requires key and certificate in one file.
        parts = [properties[f"ssl.{part}.location"] for part in ("key", "certificate")]
        write_private(folder / "keystore.pem", "\n".join(Path(p).read_text() for p in parts))
    java = java_properties(properties, keystore=folder / "keystore.pem")
    write_private(folder / JAVA, "".join(f"{n}={_escaped(v)}\n" for n, v in java.items()))
    os.environ[VARIABLE] = str(folder)


def disconnect(folder: Path) -> None:
    if os.environ.get(VARIABLE) == str(folder):
        del os.environ[VARIABLE]
    shutil.rmtree(folder, ignore_errors=True)


def write_private(path: Path, text: str) -> None:
    """Write a file that only the owner can read, from its creation on."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")
