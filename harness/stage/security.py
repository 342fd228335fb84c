"""Brokers that require TLS and a password.

Each run has its own authority, certificate and password, in a folder outside the run folder that
only this user can read. The folder is removed with the stage.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from onceproof.harness.kafka.connecting.connection import (
    connect_with,
    disconnect,
    write_private,
)
from onceproof.harness.links.gate.tls import Tls
from onceproof.harness.stage.certificates import Certificate, new_authority, new_certificate

USER: Final = "onceproof"
MECHANISM: Final = "SCRAM-SHA-512"
_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"
_PASSWORD_BYTES: Final = 24


class Security:
    """TLS and SCRAM for the listeners of clients; brokers use plain text among themselves."""

    protocol = "SASL_SSL"
    """Of the listeners for clients."""

    def __init__(self, marker: str) -> None:
        self.folder = Path(tempfile.gettempdir()) / f"onceproof-{marker}-security"
        self._password = secrets.token_urlsafe(_PASSWORD_BYTES)
        self.authority = Certificate(
            certificate=self.folder / "authority.pem", key=self.folder / "authority.key"
        )
        self._broker = Certificate(
            certificate=self.folder / "broker.pem", key=self.folder / "broker.key"
        )

    def create(self, addresses: Iterable[str]) -> None:
        """Create certificates and credentials, and connect the harness's own clients with them.

        `addresses` are all that a client may connect to. Raises `SetupError` if `openssl` fails.
        """
        self.folder.mkdir(mode=0o700, parents=True)
        new_authority(self.folder)
        new_certificate(self.folder, "broker", self.authority, addresses=sorted(set(addresses)))
        parts = (self._broker.key, self._broker.certificate)
        write_private(self._keystore, "\n".join(part.read_text() for part in parts))
        user = f"{MECHANISM}=[name={USER},password={self._password}]"
        write_private(self.users, f"--add-scram\n{user}\n")
        connect_with(self.properties, self.folder / "client")

    def remove(self) -> None:
        """Undo `create`, if it was called."""
        disconnect(self.folder / "client")
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def users(self) -> Path:
        """File with arguments for Kafka's storage tool that add the SCRAM users."""
        return self.folder / "users"

    @property
    def properties(self) -> Mapping[str, str]:
        """Connection settings of a client, by librdkafka's names."""
        return {
            "security.protocol": self.protocol,
            "sasl.mechanism": MECHANISM,
            "sasl.username": USER,
            "sasl.password": self._password,
            "ssl.ca.location": str(self.authority.certificate),
        }

    @property
    def tls(self) -> Tls:
        """What a gate needs between a client and a broker."""
        return Tls(
            authority=str(self.authority.certificate),
            certificate=str(self._broker.certificate),
            key=str(self._broker.key),
        )

    def broker_settings(self, listeners: Iterable[str]) -> dict[str, str]:
        """Return a broker's settings for these listeners, without secrets."""
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self._keystore),
            "sasl.enabled.mechanisms": MECHANISM,
            **{
                f"listener.name.{name.lower()}.{MECHANISM.lower()}.sasl.jaas.config": (
                    f"{_MODULE} required;"
                )
                for name in listeners
            },
        }

    @property
    def _keystore(self) -> Path:
        return self.folder / "keystore.pem"
