"""Base class of applications with a stream library for Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.python import programs
from onceproof.harness.subjects.streams.base import StreamsSubject
from onceproof.harness.subjects.tasks import Program


@dataclass(frozen=True, kw_only=True)
class InPython(StreamsSubject):
    """An application in `harness/python/`, in a program that has the library's name."""

    package: ClassVar[str]
    """The library's distribution."""

    @property
    def plain_text(self) -> bool:
        """True: the programs have no settings for TLS or SASL."""
        return True

    @property
    def version(self) -> str:
        return programs.version_of(self._program, self.package)

    @property
    def _program(self) -> str:
        return self.library.replace("-", "_")

    def program(self, parts: PipelineParts) -> Program:
        return partial(programs.command, self._program)
