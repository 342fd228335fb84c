"""Credentials of the workers' REST API, through which anyone could write files as our user."""

from __future__ import annotations

import base64
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EXTENSION: Final = (
    "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
)
_MODULE: Final = "org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule"
_USER: Final = "onceproof"


@dataclass(frozen=True, kw_only=True)
class Login:
    """Credentials of one run: a JAAS file that names the password file, and an HTTP header."""

    jaas: Path
    authorization: str

    @classmethod
    def new(cls, folder: Path) -> Login:
        """Create a random password; its files go into `folder`."""
        password = secrets.token_urlsafe(24)
        users, jaas = folder / "connect-users", folder / "connect-jaas.conf"
        with os.fdopen(os.open(users, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(f"{_USER}: {password}\n")
        where = str(users).replace("\\", "\\\\").replace('"', '\\"')
        jaas.write_text(
            f'KafkaConnect {{ {_MODULE} required file="{where}"; }};\n', encoding="utf-8"
        )
        token = base64.b64encode(f"{_USER}:{password}".encode()).decode()
        return cls(jaas=jaas, authorization=f"Basic {token}")
