"""The JDBC URL for a libpq connection string.

Either has settings that the other does not know. What only libpq knows is
refused, so that nobody connects otherwise than configured.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from onceproof.harness.processes.trouble import StageTrouble

_PORT: Final = "5432"
_SAME: Final = frozenset(
    {"user", "password", "options", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslpassword"}
)
_CALLED: Final = {
    **{name: name for name in _SAME},
    "application_name": "ApplicationName",
}
"""libpq's name of a setting, and the driver's."""
_LEFT_OUT: Final = "connect_timeout"
"""The driver gives up by itself; and an `&` less is one less for a shell to take for its own."""


def jdbc_url(database: str) -> str:
    """The URL for a connection string or a `postgresql://` URI; an empty one for none.

    Raises:
        StageTrouble: it has no JDBC equivalent.
    """
    if not database:
        return ""
    try:
        options = {name: str(value) for name, value in conninfo_to_dict(database).items()}
    except psycopg.ProgrammingError as error:
        raise StageTrouble(f"{{jdbc}}: the database is not a connection string: {error}") from None
    options.pop(_LEFT_OUT, None)
    hosts = options.pop("host", "localhost").split(",")
    ports = options.pop("port", _PORT).split(",")
    name = options.pop("dbname", options.get("user", ""))
    odd = [
        *sorted(options.keys() - _CALLED.keys()),
        *(host for host in hosts if host[:1] in ("/", "@")),
    ]
    if odd:
        raise StageTrouble(
            f"{{jdbc}}: JDBC has no equivalent of {', '.join(odd)}; expected a host and "
            f"{', '.join(sorted(_CALLED))}"
        )
    if len(ports) == 1:
        ports *= len(hosts)
    if len(ports) != len(hosts):
        raise StageTrouble(
            f"{{jdbc}}: expected as many ports as hosts, found {len(ports)} and {len(hosts)}"
        )
    places = ",".join(
        f"{f'[{host}]' if ':' in host else host}:{port or _PORT}"
        for host, port in zip(hosts, ports, strict=True)
    )
    settings = urlencode({_CALLED[key]: value for key, value in options.items()}, quote_via=quote)
    return f"jdbc:postgresql://{places}/{quote(name, safe='')}{f'?{settings}' if settings else ''}"
