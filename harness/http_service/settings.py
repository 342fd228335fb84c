"""Settings of the HTTP service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """Settings of the HTTP service of one run.

    Attributes:
        paths: requests to and below these are executed, others get 404; no slash at either end.
        key: header with an idempotency key, such as `Idempotency-Key`; None: execute everything.
    """

    paths: tuple[str, ...]
    key: str | None = None


def below(path: str, parent: str) -> str | None:
    """Return the rest of a request's path below `parent`; None if it is not below it."""
    inside = path.strip("/")
    if inside == parent:
        return ""
    return inside.removeprefix(f"{parent}/") if inside.startswith(f"{parent}/") else None
