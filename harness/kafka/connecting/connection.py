"""How this process connects to brokers, and every helper that it starts.

The properties are in a folder that only its user can read, and the environment names the
folder: so they reach each helper, in whatever language, and no argument list, task or record has
them. Without the folder connections are plain text.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from onceproof.harness.kafka.connecting.handshake import connect
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
"""Names the folder."""
LIBRDKAFKA: Final = "librdkafka.properties"
JAVA: Final = "java.properties"


@dataclass(frozen=True)
class Connection:
    """Where brokers are, and how to connect to them.

    Attributes:
        bootstrap: `host:port,…`.
        properties: by librdkafka's names; empty for plain text.
    """

    bootstrap: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    def librdkafka(self) -> dict[str, Any]:
        """For a client of confluent-kafka's, which adds what it is for."""
        return {**self.properties, "bootstrap.servers": self.bootstrap}

    def in_python(self) -> dict[str, Any]:
        """For a client of kafka-python's or aiokafka's, which have the same words, but for servers.

        Raises:
            BadProperties: they cannot log in so.
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
                    f"kafka-python and aiokafka cannot log in by {mechanism} here; "
                    f"expected one of {', '.join(BY_PASSWORD)}"
                )
            settings |= {
                "sasl_mechanism": mechanism,
                "sasl_plain_username": self.properties["sasl.username"],
                "sasl_plain_password": self.properties["sasl.password"],
            }
        return settings

    def open(self, seconds: float) -> socket.socket:
        """A socket to the one broker, ready for its first request; each answer may take so long.

        Raises:
            CredentialsRefused: the broker does not let us in, or is not who it should be.
            OSError: it is not there.
        """
        return connect(self.bootstrap, self.properties, seconds)


def connection(bootstrap: str) -> Connection:
    """How this process connects there; every client of ours is made with it."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return Connection(bootstrap)
    found = read(Path(folder) / LIBRDKAFKA)
    return Connection(bootstrap, {name: str(value) for name, value in found.items()})


def client_properties() -> dict[str, str]:
    """Files with the properties by the language of the client; none where there are none."""
    folder = os.environ.get(VARIABLE)
    names = {"java": JAVA, "librdkafka": LIBRDKAFKA}
    return {} if folder is None else {who: f"{folder}/{name}" for who, name in names.items()}


def client_file(name: str, *, otherwise: Path) -> Path:
    """The file with the properties, for programs of others; empty where connections are plain text.

    Args:
        name: `JAVA` or `LIBRDKAFKA`.
        otherwise: folder for the empty file.
    """
    if (folder := os.environ.get(VARIABLE)) is not None:
        return Path(folder) / name
    write_private(otherwise / name, "")
    return otherwise / name


def connect_with(properties: Mapping[str, str], folder: Path) -> None:
    """Let this process, and what it starts from now on, connect with such properties.

    Args:
        properties: as `fitting` returns them.
        folder: to be made for them, readable by nobody else; `disconnect` removes it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(folder / LIBRDKAFKA, "".join(f"{n}={v}\n" for n, v in properties.items()))
    if "ssl.key.location" in properties:
        # Java wants both in one file.
        parts = [properties[f"ssl.{part}.location"] for part in ("key", "certificate")]
        write_private(folder / "keystore.pem", "\n".join(Path(p).read_text() for p in parts))
    java = java_properties(properties, keystore=folder / "keystore.pem")
    write_private(folder / JAVA, "".join(f"{n}={_escaped(v)}\n" for n, v in java.items()))
    os.environ[VARIABLE] = str(folder)


def disconnect(folder: Path) -> None:
    """Undo `connect_with`; fine if it was never done."""
    if os.environ.get(VARIABLE) == str(folder):
        del os.environ[VARIABLE]
    shutil.rmtree(folder, ignore_errors=True)


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read, not even for a moment."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")
