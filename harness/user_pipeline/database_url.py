"""Convert a libpq connection string to a JDBC URL or a `postgresql://` URL.

Settings that only libpq knows are rejected, so that a client never connects with other settings
than those configured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from onceproof.harness.processes.trouble import StageTrouble

_PORT: Final = "5432"
_SAME_NAMES: Final = frozenset(
    {"user", "password", "options", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslpassword"}
)
_JDBC_NAMES: Final = {
    **{name: name for name in _SAME_NAMES},
    "application_name": "ApplicationName",
}
"""libpq's name of a setting → the JDBC driver's."""
_OMITTED: Final = "connect_timeout"
"""Clients have time-outs of their own, and each `&` less is one less for a shell to misread."""


def jdbc_url(database: str) -> str:
    """Return the JDBC URL (empty for none); raise `StageTrouble` without an equivalent."""
    if not database:
        return ""
    place, options = _parts(database, "jdbc")
    return f"jdbc:postgresql://{place}{_query({_JDBC_NAMES[key]: options[key] for key in options})}"


def database_url(database: str) -> str:
    """Return a `postgresql://` URI, as SQLAlchemy or pgx take it; raises as `jdbc_url` does."""
    if not database:
        return ""
    place, options = _parts(database, "database_url")
    login = ":".join(
        quote(options.pop(each), safe="") for each in ("user", "password") if each in options
    )
    return f"postgresql://{f'{login}@' if login else ''}{place}{_query(options)}"


def _query(settings: Mapping[str, str]) -> str:
    return f"?{urlencode(settings, quote_via=quote)}" if settings else ""


def _parts(database: str, word: str) -> tuple[str, dict[str, str]]:
    """Return hosts and database as in a URL, and the other settings."""
    try:
        options = {name: str(value) for name, value in conninfo_to_dict(database).items()}
    except psycopg.ProgrammingError as error:
        raise StageTrouble(
            f"{{{word}}}: the database is not a connection string: {error}"
        ) from None
    options.pop(_OMITTED, None)
    hosts = options.pop("host", "localhost").split(",")
    ports = options.pop("port", _PORT).split(",")
    name = options.pop("dbname", options.get("user", ""))
    odd = [
        *sorted(options.keys() - _JDBC_NAMES.keys()),
        *(host for host in hosts if host[:1] in ("/", "@")),
    ]
    if odd:
        raise StageTrouble(
            f"{{{word}}}: a URL has no equivalent of {', '.join(odd)}; expected a TCP host, and "
            f"no settings except {', '.join(sorted(_JDBC_NAMES))}"
        )
    if len(ports) == 1:
        ports *= len(hosts)
    if len(ports) != len(hosts):
        raise StageTrouble(
            f"{{{word}}}: expected one port, or one for each of {len(hosts)} hosts, found "
            f"{len(ports)} ports"
        )
    places = ",".join(
        f"{f'[{host}]' if ':' in host else host}:{port or _PORT}"
        for host, port in zip(hosts, ports, strict=True)
    )
    return f"{places}/{quote(name, safe='')}", options
