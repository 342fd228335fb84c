"""Names of connections, by which a server with one listener tells whose they are.

They begin with the audience.
"""

from __future__ import annotations


def sender(name: str) -> str:
    return f"producer/{name}"


def consumers_of(queue: str) -> str:
    """Return how the names of connections that consume a queue begin."""
    return f"pipeline/{queue}/"
