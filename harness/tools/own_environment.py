"""Create the harness's own environment in the cache, so that a project's stays as it is.

It has two parts. The packages, by lock and Python, are shared by all installations of onceproof.
Each installation has a small environment that links to the packages and to the installed onceproof,
so that a process of the harness needs nothing but its interpreter.

This module uses only the standard library, because it runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache, virtualenv
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.marks import MARK

LOCK: Final = Path(__file__).with_name("harness.lock")
FOLDER: Final = "environments"
"""In the cache."""
SIZE: Final = "1.1 GB"
"""On disk, with PySpark. About 0.6 GB are downloaded."""
_PATHS: Final = """import os, site, sys

# A user's PYTHONPATH, often that of a Spark, is for the user's programs only.
_given = {{os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)}}
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) not in _given]
site.addsitedir({packages!r})
"""
_COMMAND: Final = "from onceproof.__main__ import main\n\nmain()\n"

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where the environment of an installation is.

    Attributes:
        packages: the part that installations share.
        linked: the part of this installation.
        code: the installed package `onceproof`.
        about: the folder of its metadata; None if it is not installed.
    """

    packages: Path
    linked: Path
    code: Path
    about: Path | None

    @property
    def python(self) -> Path:
        return self.linked / "bin" / "python"

    @property
    def command(self) -> list[str]:
        return [str(self.python), "-P", str(self.linked / "bin" / "onceproof")]

    @property
    def complete(self) -> bool:
        return _is_complete(self.packages) and _is_complete(self.linked)


def places() -> Places:
    folder, code, about = cache.location() / FOLDER, Path(__file__).parents[2], _metadata()
    packages = folder / f"packages-{_sum(LOCK.read_text(), _python())}"
    # With what is written there, so that one of an older version is not taken for it.
    form = (str(packages), str(code), str(about), _PATHS, _COMMAND)
    linked = folder / f"onceproof-{_sum(*form)}"
    return Places(packages=packages, linked=linked, code=code, about=about)


def ensure(say: Say) -> Places:
    """Create what is missing of this installation's environment.

    Raises:
        SetupError: it cannot be created.
    """
    at = places()

    def wait() -> None:
        say("waiting for another process that installs the harness's packages")

    cache.install(at.packages, partial(_install, say), usable=_is_complete, waiting=wait)
    cache.install(at.linked, partial(_link, at=at), usable=_is_complete)
    return at


def _python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()} {platform.machine()}"


def _sum(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _metadata() -> Path | None:
    """Return the folder of the installed distribution's metadata; None if it is not installed."""
    files = distribution("onceproof").files or []
    found = (Path(str(f.locate())).parent for f in files if f.name == "METADATA")
    return next(found, None)


def _is_complete(folder: Path) -> bool:
    """Return whether an environment is complete, and what it links to is still there."""
    links = [folder / "bin" / "python", *(folder / virtualenv.SITE).glob("onceproof*")]
    return (folder / MARK).exists() and all(link.exists() for link in links)


def _install(say: Say, folder: Path) -> None:
    virtualenv.check_disk(folder.parent)
    say(
        f"installing the harness's own Python packages into {folder.parent}, once: about {SIZE} on "
        "disk. Your environment stays as it is."
    )
    virtualenv.create(folder)
    python = folder / "bin" / "python"
    virtualenv.install_locked(python, LOCK, work=folder, to=virtualenv.STDERR)
    if missing := virtualenv.not_installed(folder, LOCK.read_text()):
        raise SetupError(f"pip did not install {', '.join(missing)}. Try again.")
    (folder / MARK).touch()


def _link(folder: Path, *, at: Places) -> None:
    virtualenv.create(folder, "--without-pip")
    site = folder / virtualenv.SITE
    (site / "onceproof").symlink_to(at.code, target_is_directory=True)
    if at.about is not None:
        (site / at.about.name).symlink_to(at.about, target_is_directory=True)
    packages = str(at.packages / virtualenv.SITE)
    (site / "_harness_paths.py").write_text(_PATHS.format(packages=packages))
    (folder / "bin" / "onceproof").write_text(_COMMAND)
    (site / "harness.pth").write_text("import _harness_paths\n")
    (folder / MARK).touch()
