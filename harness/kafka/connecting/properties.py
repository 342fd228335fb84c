"""Read and validate the connection properties of the harness's clients, by librdkafka's names.

Only connection properties are accepted. The harness sets all others (groups, isolation level,
acknowledgements), because verdicts depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

PREFIX: Final = "ONCEPROOF_KAFKA_"
"""Prefix of environment variables, such as `ONCEPROOF_KAFKA_SASL_PASSWORD`."""
SECRETS: Final = frozenset({"sasl.password", "ssl.key.password", "sasl.oauthbearer.client.secret"})
"""Properties that only files readable by their owner alone may contain."""
_PATHS: Final = frozenset(
    {"ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "https.ca.location"}
)
NAMES: Final = (
    SECRETS
    | _PATHS
    | {
        "security.protocol",
        "sasl.mechanism",
        "sasl.username",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.oauthbearer.config",
        "enable.sasl.oauthbearer.unsecure.jwt",
        "ssl.endpoint.identification.algorithm",
    }
)
"""The accepted properties."""
_ALIASES: Final = {"sasl.mechanisms": "sasl.mechanism"}
PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
BY_PASSWORD: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
OAUTHBEARER: Final = "OAUTHBEARER"


class BadProperties(ValueError):
    """A property cannot be used; the message names it and never contains a secret."""


def is_encrypted(properties: Mapping[str, str]) -> bool:
    return properties.get("security.protocol", "").endswith("SSL")


def is_authenticated(properties: Mapping[str, str]) -> bool:
    return properties.get("security.protocol", "").startswith("SASL")


def flat(table: Mapping[str, Any]) -> dict[str, object]:
    """Flatten a TOML table, which nests a dotted key: `sasl.password` is a table in a table."""

    def leaves(below: Mapping[str, Any], before: str) -> Iterator[tuple[str, object]]:
        for name, value in below.items():
            if isinstance(value, dict):
                yield from leaves(value, f"{before}{name}.")
            else:
                yield before + name, value

    return dict(leaves(table, ""))


def from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    """Return properties from environment variables: upper case, underscores instead of dots.

    Raises:
        BadProperties: a variable with the prefix is not a known property.
    """
    names = {_variable(name): name for name in NAMES | _ALIASES.keys()}
    given = [name for name in environment if name.startswith(PREFIX)]
    if unknown := sorted(given - names.keys()):
        raise BadProperties(
            f"{', '.join(unknown)}: unknown environment variable; expected one of "
            f"{', '.join(sorted(map(_variable, NAMES)))}. Unset all others that begin with "
            f"{PREFIX}."
        )
    return {names[name]: environment[name] for name in given}


def without_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(PREFIX)}


def read(path: Path) -> dict[str, object]:
    """Read a file with lines `name=value`; lines that begin with `#` are comments.

    Raises:
        BadProperties: the file is unreadable or malformed, or others can read secrets in it.
    """
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadProperties(f"{path} cannot be read: {why}") from None
    found: dict[str, object] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, separator, value = line.partition("=")
        if not separator:  # do not quote the line: it may be a secret
            raise BadProperties(f"{path}, line {number}: expected `name=value`")
        found[name.strip()] = value.lstrip()
    check_private(path, found)
    return found


def check_private(path: Path, given: Mapping[str, object]) -> None:
    """Raise `BadProperties` if other users can read or change a file with secrets."""
    secrets = sorted(SECRETS & given.keys())
    if secrets and (excess := path.stat().st_mode & 0o077):
        raise BadProperties(
            f"{path} contains {', '.join(secrets)}, but other users can read or change it "
            f"(mode {path.stat().st_mode & 0o777:o}, excess bits {excess:o}). "
            f"Run `chmod 600 {path}`, then try again."
        )


def known(given: Mapping[str, object], *, folder: Path) -> dict[str, str]:
    """Resolve aliases of properties, and paths relative to `folder`.

    Raises:
        BadProperties: a name is unknown, or a value is invalid.
    """
    renamed = {_ALIASES.get(name, name): value for name, value in given.items()}
    if unknown := sorted(renamed.keys() - NAMES):
        raise BadProperties(
            f"{', '.join(unknown)}: not a connection property; onceproof sets all others itself. "
            f"Expected one of {', '.join(sorted(NAMES))}."
        )
    properties = {}
    for name, value in renamed.items():
        if not isinstance(value, str | bool):
            raise BadProperties(f'{name}: expected a string, such as {name} = "…"')
        properties[name] = str(value).lower() if isinstance(value, bool) else value
        if not properties[name].isprintable():
            raise BadProperties(f"{name}: expected one line of printable text")
    for name in _PATHS & properties.keys():
        path = folder.absolute() / properties[name]
        if not path.exists():
            raise BadProperties(f"{name}: no such file or folder: {path}")
        properties[name] = str(path)
    return properties


def fitting(known: Mapping[str, str]) -> dict[str, str]:
    """Check that a client can be created with the properties, and return them normalized.

    Raises:
        BadProperties: some contradict each other or are missing.
    """
    properties = dict(known)
    protocol = properties.get("security.protocol", PROTOCOLS[0]).upper()
    if protocol not in PROTOCOLS:
        raise BadProperties(f"security.protocol: expected one of {', '.join(PROTOCOLS)}")
    if properties:
        properties["security.protocol"] = protocol
    for layer, used in (("sasl", is_authenticated(properties)), ("ssl", is_encrypted(properties))):
        if not used and (unused := sorted(n for n in properties if n.startswith(f"{layer}."))):
            raise BadProperties(
                f"{', '.join(unused)}: not used with security.protocol {protocol}; "
                f"expected a protocol with {layer.upper()}, or no {layer} properties"
            )
    if ("ssl.certificate.location" in properties) != ("ssl.key.location" in properties):
        raise BadProperties(
            "ssl.certificate.location and ssl.key.location: expected both, or neither"
        )
    if is_authenticated(properties):
        _check_mechanism(properties)
    return properties


def _check_mechanism(properties: Mapping[str, str]) -> None:
    mechanism = properties.get("sasl.mechanism")
    if mechanism in BY_PASSWORD:
        needed = {"sasl.username", "sasl.password"}
    elif mechanism != OAUTHBEARER:
        raise BadProperties(
            f"sasl.mechanism: expected one of {', '.join((*BY_PASSWORD, OAUTHBEARER))}"
        )
    elif properties.get("sasl.oauthbearer.method") == "oidc":
        needed = {
            f"sasl.oauthbearer.{n}" for n in ("client.id", "client.secret", "token.endpoint.url")
        }
    else:
        needed = {"sasl.oauthbearer.config", "enable.sasl.oauthbearer.unsecure.jwt"}
    if missing := sorted(needed - properties.keys()):
        raise BadProperties(f"{mechanism} needs {', '.join(missing)}")


def _variable(name: str) -> str:
    return PREFIX + name.upper().replace(".", "_")
