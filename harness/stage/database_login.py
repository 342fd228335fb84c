"""The login to a run's database: its password is in a file of our own, and in no command line.

Others on the machine reach the server, since it listens on loopback, and get no further. The role
that we and pipelines have owns its database and may create others; it is no superuser, so that
nobody runs programs through the server.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

ROLE: Final = "onceproof"
DATABASE: Final = "postgres"
LET_IN: Final = f"host all {ROLE} 127.0.0.0/8 scram-sha-256\n"
"""`pg_hba.conf`: nobody but the role, so that the superuser comes in by the server's files only."""


@dataclass(frozen=True, kw_only=True)
class Login:
    """A role's password, in a file as libpq reads it."""

    file: Path
    password: str

    @classmethod
    def new(cls, file: Path) -> Login:
        """One with a password that nobody knows yet."""
        password = secrets.token_urlsafe(24)
        write_private(file, f"*:*:*:{ROLE}:{password}\n")
        return cls(file=file, password=password)

    @property
    def statements(self) -> str:
        """What makes the role, for a server that only we reach."""
        return (
            f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{self.password}'\n"
            f"ALTER DATABASE {DATABASE} OWNER TO {ROLE}\n"
            # A dry run has the server log what a pipeline asks of it.
            f"GRANT SET, ALTER SYSTEM ON PARAMETER log_statement, log_line_prefix TO {ROLE}\n"
            f"GRANT EXECUTE ON FUNCTION pg_reload_conf() TO {ROLE}\n"
        )


def write_private(file: Path, content: str) -> None:
    """Write a new file that nobody else can read, not even while it is made.

    Raises:
        FileExistsError: it is there already.
    """
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(content)


def connection_string(host: str, port: int, login_file: Path) -> str:
    """How libpq connects there."""
    return make_conninfo(
        host=host,
        port=port,
        user=ROLE,
        dbname=DATABASE,
        connect_timeout=5,
        passfile=str(login_file),
    )


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Who comes in, and where to."""

    user: str
    database: str
    password: str


def credentials(database: str) -> Credentials:
    """Those that a connection string of a stage of ours has, or its file of passwords."""
    options = conninfo_to_dict(database)
    password = str(options.get("password") or "")
    if (file := options.get("passfile")) is not None:
        password = Path(str(file)).read_text().strip().rpartition(":")[2]
    return Credentials(
        user=str(options["user"]), database=str(options["dbname"]), password=password
    )


def for_programs(database: str) -> tuple[str, Mapping[str, str]]:
    """A connection string without its file of passwords, and the environment that names the file.

    Not every client knows that setting of a connection string; nearly all know the variable.
    """
    options: dict[str, Any] = conninfo_to_dict(database)
    file = options.pop("passfile", None)
    if file is None:
        return database, {}
    return make_conninfo(**options), {"PGPASSFILE": str(file)}
