"""All kinds of outputs: built-in ones, then those of installed packages.

A module here with a constant `OUTPUTS` is built in. A package names such a module under the entry
point group `onceproof.outputs`.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from onceproof.checkers.extensions import BadExtension, named_extensions
from onceproof.checkers.scan import modules
from onceproof.harness.user_pipeline.outputs.kind import OutputKind


@cache
def output_kinds() -> dict[str, OutputKind]:
    """Return all kinds by prefix.

    Raises:
        BadExtension: a package's module cannot be imported, has no kind, or repeats a prefix.
    """
    ours = [(each.__name__, each) for each in modules(__package__ or "")]
    found: dict[str, OutputKind] = {}
    for where, module in (*ours, *named_extensions("outputs")):
        if module.__package__ == __package__ and not hasattr(module, "OUTPUTS"):
            continue
        for kind in _kinds(where, module):
            if kind.prefix in found:
                usage = found[kind.prefix].usage
                raise BadExtension(f"{where}: the output {usage} is already defined")
            found[kind.prefix] = kind
    return found


def _kinds(where: str, module: ModuleType) -> tuple[OutputKind, ...]:
    kinds = getattr(module, "OUTPUTS", None)
    if not isinstance(kinds, tuple) or not all(isinstance(each, OutputKind) for each in kinds):
        raise BadExtension(f"{where}: expected a constant OUTPUTS with a tuple of OutputKind")
    return kinds


def usages() -> str:
    """List the syntax of all kinds."""
    *others, last = [kind.usage for kind in output_kinds().values()]
    return f"TOPIC, {', '.join(others)} or {last}"
