"""The login to a run's database; its password is in a private file, never on a command line.

The server listens on loopback, so other local users reach it, but cannot log in. The role for
pipelines and the harness owns its database and may create others. It is not a superuser, so that no
programs can be run through the server.
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
HBA_RULE: Final = f"host all {ROLE} 127.0.0.0/8 scram-sha-256\n"
"""`pg_hba.conf`: only this role may connect; the superuser needs access to the server's files."""


@dataclass(frozen=True, kw_only=True)
class Login:
    """A role's password, and the libpq password file with it."""

    file: Path
    password: str

    @classmethod
    def new(cls, file: Path) -> Login:
        """Create a random password and its file."""
        password = secrets.token_urlsafe(24)
        write_private(file, f"*:*:*:{ROLE}:{password}\n")
        return cls(file=file, password=password)

    @property
    def statements(self) -> str:
        """SQL that creates the role, for a server in single-user mode."""
        return (
            f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{self.password}'\n"
            f"ALTER DATABASE {DATABASE} OWNER TO {ROLE}\n"
            # A dry run makes the server log a pipeline's statements.
            f"GRANT SET, ALTER SYSTEM ON PARAMETER log_statement, log_line_prefix TO {ROLE}\n"
            f"GRANT EXECUTE ON FUNCTION pg_reload_conf() TO {ROLE}\n"
        )


def write_private(file: Path, content: str) -> None:
    """Create a file that is never readable by others; raise `FileExistsError` if it exists."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(content)


def connection_string(host: str, port: int, login_file: Path) -> str:
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
    """User, database and password."""

    user: str
    database: str
    password: str


def credentials(database: str) -> Credentials:
    """Return the credentials in a connection string of a stage, or in its password file."""
    options = conninfo_to_dict(database)
    password = str(options.get("password") or "")
    if (file := options.get("passfile")) is not None:
        password = Path(str(file)).read_text().strip().rpartition(":")[2]
    return Credentials(
        user=str(options["user"]), database=str(options["dbname"]), password=password
    )


def for_programs(database: str) -> tuple[str, Mapping[str, str]]:
    """Return a connection string without its password file, and an environment that names the file.

    Some clients do not know that setting; nearly all know the variable.
    """
    options: dict[str, Any] = conninfo_to_dict(database)
    file = options.pop("passfile", None)
    if file is None:
        return database, {}
    return make_conninfo(**options), {"PGPASSFILE": str(file)}
