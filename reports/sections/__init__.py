"""The sections of a report: one module each, with its template beside it.

A section is a module with a constant `SECTION`, here or in an installed package that names it in
the entry-point group `onceproof.report_sections`. Its template has the module's name and ends in
`.html.j2`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from onceproof.checkers.extensions import BadExtension, named_extensions
from onceproof.checkers.scan import member_modules
from onceproof.reports.sections.base import RunData, Section

__all__ = ["RegisteredSection", "RunData", "Section", "sections"]

_NAME = re.compile(r"[a-z]+(-[a-z]+)*")


@dataclass(frozen=True, kw_only=True)
class RegisteredSection:
    """A section, and where it comes from.

    Attributes:
        template: its HTML template; None if it is not on the page.
        anchor: its id on the page.
        package: the module of another package that adds it; None for one of ours.
    """

    section: Section
    template: Path | None
    anchor: str
    package: str | None


@cache
def sections() -> tuple[RegisteredSection, ...]:
    """Return all sections in the order of the page.

    Raises:
        BadExtension: a module of another package cannot be imported, or adds no valid section.
    """
    found: dict[str, RegisteredSection] = {}
    for module in member_modules(__name__, "SECTION"):
        found[module.SECTION.name] = _registered(module, package=None)
    for where, module in named_extensions("report_sections"):
        _check(module, where, found.keys())
        found[module.SECTION.name] = _registered(module, package=module.__name__)
    return tuple(sorted(found.values(), key=lambda each: each.section.place))


def _registered(module: ModuleType, *, package: str | None) -> RegisteredSection:
    section: Section = module.SECTION
    template = Path(str(module.__file__)).with_suffix(".html.j2")
    return RegisteredSection(
        section=section,
        template=template if template.is_file() else None,
        anchor=section.name if package is None else f"added-{section.name}",
        package=package,
    )


def _check(module: ModuleType, where: str, taken: Collection[str]) -> None:
    section = getattr(module, "SECTION", None)
    if not isinstance(section, Section):
        raise BadExtension(f"{where}: expected a constant SECTION of type Section")
    if not _NAME.fullmatch(section.name):
        wanted = "lower-case letters and single hyphens"
        raise BadExtension(f"{where}: invalid name {section.name!r}: expected {wanted}")
    if section.name in taken:
        raise BadExtension(f"{where}: report section {section.name} exists already")
