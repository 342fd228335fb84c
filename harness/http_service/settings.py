"""What a run wants of an HTTP service, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """An HTTP service to be.

    Attributes:
        paths: it carries out requests to these paths and below them, without a slash at either
            end; any other path is not found.
        key: the header by which it recognizes a repeated request, such as `Idempotency-Key`; None:
            it carries out every request.
    """

    paths: tuple[str, ...]
    key: str | None = None


def below(path: str, parent: str) -> str | None:
    """The rest of a request's path behind an output's; None if it does not belong to it."""
    inside = path.strip("/")
    if inside == parent:
        return ""
    return inside.removeprefix(f"{parent}/") if inside.startswith(f"{parent}/") else None
