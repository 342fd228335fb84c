"""Kafka's error names."""

from __future__ import annotations

from kafka.errors import for_code


def error_name(code: int) -> str:
    """Return the name of a broker's error code; `no error` for 0."""
    return str(for_code(code).message) if code else "no error"
