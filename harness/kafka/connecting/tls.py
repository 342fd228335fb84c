"""TLS for clients."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path


def tls_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Return the client's TLS context; raise `OSError` if a certificate or key is unusable."""
    place = properties.get("ssl.ca.location")
    if place is not None and Path(place).is_dir():
        context = ssl.create_default_context(capath=place)
    else:
        context = ssl.create_default_context(cafile=place)
    if properties.get("ssl.endpoint.identification.algorithm") == "none":
        context.check_hostname = False
    if "ssl.key.location" in properties:
        context.load_cert_chain(
            properties["ssl.certificate.location"],
            properties["ssl.key.location"],
            # Without a password OpenSSL would prompt for one at the terminal.
            properties.get("ssl.key.password", ""),
        )
    return context
