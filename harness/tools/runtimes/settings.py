"""Settings that a chosen version does not know, and refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from onceproof.harness.tools.runtimes.known import numbers

_SINCE: Final[Mapping[str, Mapping[str, str]]] = {
    "librdkafka": {"retry.backoff.max.ms": "2.3.0"},
}
"""Runtime → setting → the first version that knows it. Clients in Java only warn."""


def known_settings(name: str, version: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a version knows; all of them if it is None, the usual one."""
    since = _SINCE.get(name, {})
    return {
        setting: value
        for setting, value in settings.items()
        if version is None or setting not in since or numbers(version) >= numbers(since[setting])
    }
