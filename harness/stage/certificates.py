"""Certificates for one run, made by this machine's `openssl`: an authority, and what it signs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.tools.error import SetupError

_SECONDS: Final = 30.0
_DAYS: Final = 7
"""Longer than any run."""
_ADVICE: Final = "Install OpenSSL 3.0 or newer, or run without --secured."


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Paths of a certificate and its key, in PEM; only the owner can read the key."""

    certificate: Path
    key: Path


def check_openssl() -> None:
    """Raise `SetupError` if there is no `openssl`."""
    if shutil.which("openssl") is None:
        raise SetupError(f"There is no openssl on the PATH. {_ADVICE}")


def new_authority(folder: Path) -> Certificate:
    """Create a certificate authority; raise `SetupError` if that fails."""
    use = ["basicConstraints = critical, CA:TRUE", "keyUsage = critical, keyCertSign"]
    return _make(folder, "authority", use, [])


def new_certificate(
    folder: Path, name: str, authority: Certificate, *, addresses: Sequence[str] = ()
) -> Certificate:
    """Create a certificate signed by an authority; raise `SetupError` if that fails.

    Args:
        name: common name, and name of the files.
        addresses: IP addresses of a server; none for a client.
    """
    use = ["basicConstraints = critical, CA:FALSE"]
    if addresses:
        use.append("subjectAltName = " + ", ".join(f"IP:{address}" for address in addresses))
    signed = ["-CA", str(authority.certificate), "-CAkey", str(authority.key)]
    return _make(folder, name, use, signed)


def _make(folder: Path, name: str, use: Sequence[str], signed: Sequence[str]) -> Certificate:
    made = Certificate(certificate=folder / f"{name}.pem", key=folder / f"{name}.key")
    asked = folder / f"{name}.cnf"
    asked.write_text(
        "\n".join(
            ["[req]", "distinguished_name = name", "x509_extensions = use", "prompt = no",
             "[name]", f"CN = {name}", "[use]", *use, ""]
        )
    )  # fmt: skip
    try:
        done = subprocess.run(
            ["openssl", "req", "-x509", "-config", str(asked), "-days", str(_DAYS), "-nodes",
             "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-keyout", str(made.key), "-out", str(made.certificate), *signed],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except OSError as error:
        raise SetupError(f"openssl cannot be started: {error.strerror}. {_ADVICE}") from None
    if done.returncode:
        raise SetupError(
            f"openssl could not create a certificate: {done.stderr.strip()[-300:]}. {_ADVICE}"
        )
    made.key.chmod(0o600)
    return made
