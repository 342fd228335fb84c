"""Cache the profiles that dry runs learned, by command and data."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache
from onceproof.harness.user_pipeline.profile import Profile
from onceproof.verify.options import VerifyOptions

_TRIAL: Final = frozenset(
    {"claims", "preset", "faults", "schedule", "accepted", "plain_data"}
    | {"transactional_input", "settle", "records"}
)
"""Options that do not affect the dry run."""


def key_of(options: VerifyOptions, backend: str) -> str:
    """Return a hash of everything that affects the dry run: options, backend and data."""
    digest = hashlib.sha256()
    described = {name: str(value) for name, value in vars(options).items() if name not in _TRIAL}
    digest.update(json.dumps([described, backend], sort_keys=True).encode())
    if options.compose is not None and options.compose.is_file():
        digest.update(options.compose.read_bytes())
    for of in options.inputs:
        if of.data is not None:
            digest.update(of.data.read_bytes())
    return digest.hexdigest()[:32]


def kept(key: str) -> Profile | None:
    """Return a cached profile; None if there is none that can be read."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        return Profile.from_json(json.loads(_file(key).read_text()))
    return None


def keep(key: str, profile: Profile) -> None:
    """Cache a profile; a write error must not end a trial."""
    with suppress(OSError):
        _file(key).parent.mkdir(parents=True, exist_ok=True)
        _file(key).write_text(json.dumps(profile.as_json(), indent=2) + "\n")


def _file(key: str) -> Path:
    return cache.location() / "dry-runs" / f"{key}.json"
