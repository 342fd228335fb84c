"""Run the command in an environment that has all packages which the harness needs.

A project installs onceproof beside its own packages, so the installation brings as few as possible.
The command replaces itself by that of the harness's own environment, unless this one is complete.

Every command comes through here, nearly always where all is installed, so that most imports are in
functions: at the top they would take a fifth of a start.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from onceproof.harness.tools.marks import MARK, STAMP

_TROUBLE: Final = 3
COMPLETION: Final = "_ONCEPROOF_COMPLETE"
"""Variable with which a shell asks for completions."""
EXTRA: Final = "full"
"""The extra that installs what the harness needs."""
_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*)")
_LIMIT: Final = re.compile(r"(==|>=|<=|<|>)\s*([0-9.]+)")


def enter() -> None:
    """Replace this process by the command in the harness's own environment, if it needs it.

    Exit with a message if that environment cannot be created.
    """
    if is_complete():
        return
    from importlib import metadata

    from onceproof.harness.tools import cache, own_environment
    from onceproof.harness.tools.error import SetupError
    from onceproof.outside import CALLER_PATH

    ready = own_environment.places().complete
    # Shell completion must not install anything, and shows no help when there are no words.
    if not ready and COMPLETION in os.environ:
        return
    if _asks("--help") and COMPLETION not in os.environ:
        return
    if _asks("--version") and not ready:
        print(f"onceproof {metadata.version('onceproof')}")
        print("  its own environment is installed when a command first needs it")
        sys.exit(0)
    if sys.argv[1:2] == ["clean"] and not ready:
        _say(f"nothing is installed but downloads in {cache.location()}; remove that folder")
        sys.exit(0)
    try:
        command = own_environment.ensure(_say).command
    except SetupError as error:
        _say(str(error))
        sys.exit(_TROUBLE)
    environment = {**os.environ, CALLER_PATH: os.pathsep.join(filter(None, sys.path))}
    os.execve(command[0], [*command, *sys.argv[1:]], environment)


def _asks(option: str) -> bool:
    """Whether the command line has an option of ours, or is empty, which shows the help."""
    words = sys.argv[1:]
    ours = words[: words.index("--")] if "--" in words else words
    return option in ours or (option == "--help" and not words)


def is_complete() -> bool:
    """Whether this environment has all packages of the harness, in versions that it works with."""
    if any(Path(sys.prefix, mark).exists() for mark in (MARK, STAMP)):
        return True
    from importlib import metadata

    try:
        wanted = metadata.requires("onceproof") or []
    except metadata.PackageNotFoundError:
        return True  # a source tree that is not installed runs where it is
    return all(map(_is_installed, _of_extra(EXTRA, wanted)))


def _of_extra(extra: str, requirements: Sequence[str]) -> Iterator[str]:
    """Yield the requirements of an extra, with those of the extras that it includes."""
    for each in requirements:
        if not re.search(rf"extra\s*==\s*['\"]{extra}['\"]", each):
            continue
        yield each
        if own := re.match(r"onceproof\[([^]]*)\]", each):
            for included in own[1].split(","):
                yield from _of_extra(included.strip(), requirements)


def _is_installed(requirement: str) -> bool:
    from importlib import metadata

    found = _REQUIREMENT.match(requirement)
    assert found is not None, requirement
    try:
        version = _numbers(metadata.version(found[1]))
    except metadata.PackageNotFoundError:
        return False
    return all(fits(version, sign, _numbers(limit)) for sign, limit in _LIMIT.findall(found[2]))


def fits(version: tuple[int, ...], sign: str, limit: tuple[int, ...]) -> bool:
    """Whether a version is within a limit, such as `>= 2.2`; numbers that are not there are 0."""
    size = max(len(version), len(limit))
    one, other = (each + (0,) * (size - len(each)) for each in (version, limit))
    return {
        "==": one == other, ">=": one >= other, "<=": one <= other, "<": one < other,
        ">": one > other,
    }[sign]  # fmt: skip


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", re.split(r"[a-z+]", version)[0])))


def _say(words: str) -> None:
    print(f"onceproof: {words}", file=sys.stderr)
