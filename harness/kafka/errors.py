"""Kafka's names of errors."""

from __future__ import annotations

from kafka.errors import for_code


def error_name(code: int) -> str:
    """The name of an error that a broker answers with; `no error` for none."""
    return str(for_code(code).message) if code else "no error"
